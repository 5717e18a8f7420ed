export {
  type DemoAccount,
  demoAccount,
  demoAccounts,
  demoIssuer,
  demoMover,
  demoUsdcAddress,
} from './accounts.ts'
export { type ContractArtifact, contractArtifacts } from './artifacts.ts'
export type { DevnetControl } from './control.ts'
export type { RpcFault } from './faults.ts'
export { multicall3Address } from './genesis.ts'
export type { ReorgOptions, ReorgResult } from './reorganize.ts'
export type { ChainExtension, RpcRequest } from './rpc.ts'
export { RpcError } from './rpc-error.ts'
export { type Devnet, type DevnetOptions, startDevnet } from './start-devnet.ts'
export { devnetTransport } from './transport.ts'
