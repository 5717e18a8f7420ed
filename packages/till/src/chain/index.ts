export {
  type BlockRef,
  type ChainPort,
  type ChainTransfer,
  ChainUnreadable,
  type ChannelState,
  type ClaimedBalance,
  type ExpectedTransfer,
  type KeyUse,
  type PayerStatus,
  type SettlementEvidence,
  type SimulatedTransfer,
  type TransferLog,
} from './chain-port.ts'
export { type ChainOptions, createChain } from './create-chain.ts'
export { createRpc } from './create-rpc.ts'
export { httpEndpoint } from './http-endpoint.ts'
export {
  defineNetwork,
  dollarProblems,
  furtherDollar,
  knownNetworks,
  multicall3Address,
  type Network,
  usdcOf,
  withDollars,
} from './network.ts'
export { isRevert, operatorOf, type Rpc, type RpcCall, type RpcEndpoint, RpcRefusal } from './rpc.ts'
export { agreedLogs, agreedStep, type LogStep, type RpcLog, type StepLogs, searchLogs } from './search-logs.ts'
export { addressTopic, calls as usdcCalls, topicAddress, topics } from './usdc-abi.ts'
