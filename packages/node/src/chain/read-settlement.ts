import type { Hex } from '../kernel/bytes.ts'
import type { Json } from '../kernel/canonical-json.ts'
import { ChainUnreadable, type ExpectedTransfer, type SettlementEvidence } from './chain-port.ts'
import type { Network } from './network.ts'
import type { Rpc } from './rpc.ts'
import { type RpcLog, searchLogs } from './search-logs.ts'
import { addressTopic, topicAddress, topics } from './usdc-abi.ts'

type Receipt = {
  status: Hex
  transactionHash: Hex
  blockNumber: Hex
  blockHash: Hex
  gasUsed: Hex
  effectiveGasPrice?: Hex
  /** What a rollup charges for its data. */
  l1Fee?: Hex
  logs: RpcLog[]
}

/** Only what must be alike between endpoints; some add fields of their own. */
function relevantOfReceipt(answer: unknown): Json {
  if (typeof answer !== 'object' || answer === null) return null
  const receipt = answer as Receipt
  return {
    status: receipt.status,
    blockHash: receipt.blockHash,
    logs: receipt.logs.map((log) => [log.address.toLowerCase(), log.topics, log.data, log.logIndex]),
  }
}

/** Reads a receipt ourselves and compares it with what we quoted; nobody's word is taken for it. */
export async function readSettlement(
  rpc: Rpc,
  network: Network,
  transaction: Hex,
  expected: ExpectedTransfer,
): Promise<SettlementEvidence> {
  try {
    const answer = await rpc.agreed('eth_getTransactionReceipt', [transaction], relevantOfReceipt)
    // Endpoints that do not agree yet are endpoints that have not all seen the block.
    return answer ? judgeReceipt(network, answer as Receipt, expected) : { status: 'absent' }
  } catch (error) {
    return unreadable(error)
  }
}

export function judgeReceipt(network: Network, receipt: Receipt, expected: ExpectedTransfer): SettlementEvidence {
  const logs = receipt.logs.filter((log) => log.address.toLowerCase() === network.usdc.address)
  const used = logs.find((log) => isUseOf(log, topics.authorizationUsed, expected))
  const transaction = receipt.transactionHash
  if (receipt.status !== '0x1' || !used) return { status: 'reverted', transaction, gasGwei: gasGwei(receipt) }
  // USDC marks the authorization and transfers in one breath, so the transfer is the very next log of the asset.
  const usedIndex = BigInt(used.logIndex)
  const transfer = logs.find((log) => BigInt(log.logIndex) === usedIndex + 1n && log.topics[0] === topics.transfer)
  const fits =
    transfer !== undefined &&
    topicAddress(transfer.topics[1] ?? '') === expected.payer &&
    topicAddress(transfer.topics[2] ?? '') === expected.payTo &&
    BigInt(transfer.data) === expected.amountMicro
  if (!fits) return { status: 'mismatch', detail: `${transaction} used the nonce without the transfer that was quoted` }
  return {
    status: 'confirmed',
    transaction,
    blockNumber: BigInt(receipt.blockNumber),
    blockHash: receipt.blockHash,
    logIndex: Number(BigInt(transfer.logIndex)),
    gasGwei: gasGwei(receipt),
  }
}

export async function findByNonce(
  rpc: Rpc,
  network: Network,
  expected: ExpectedTransfer,
  fromBlock: bigint,
  toBlock: bigint,
): Promise<SettlementEvidence> {
  try {
    const logs = await searchLogs(rpc, {
      address: network.usdc.address,
      topics: [[topics.authorizationUsed, topics.authorizationCanceled], addressTopic(expected.payer), expected.nonce],
      fromBlock,
      toBlock,
    })
    const log = logs[0]
    if (!log) return { status: 'absent' }
    if (log.topics[0] === topics.authorizationCanceled)
      return await confirmCancellation(rpc, network, log.transactionHash, expected)
    return await readSettlement(rpc, network, log.transactionHash, expected)
  } catch (error) {
    return unreadable(error)
  }
}

/** That no money moved is believed like that it did: from a receipt the endpoints agree on. */
async function confirmCancellation(
  rpc: Rpc,
  network: Network,
  transaction: Hex,
  expected: ExpectedTransfer,
): Promise<SettlementEvidence> {
  const receipt = (await rpc.agreed('eth_getTransactionReceipt', [transaction], relevantOfReceipt)) as Receipt | null
  const canceled =
    receipt?.status === '0x1' &&
    receipt.logs.some(
      (log) =>
        log.address.toLowerCase() === network.usdc.address && isUseOf(log, topics.authorizationCanceled, expected),
    )
  if (!canceled) return { status: 'could_not_read', reason: 'a cancellation that the endpoints do not agree on' }
  return { status: 'canceled', transaction, blockNumber: BigInt(receipt.blockNumber) }
}

function isUseOf(log: RpcLog, topic: Hex, expected: ExpectedTransfer): boolean {
  return (
    log.topics[0] === topic && topicAddress(log.topics[1] ?? '') === expected.payer && log.topics[2] === expected.nonce
  )
}

/** Rounded up: a cost is never shown smaller than it was. */
function gasGwei(receipt: Receipt): bigint {
  const wei = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice ?? '0x0') + BigInt(receipt.l1Fee ?? '0x0')
  return (wei + 999_999_999n) / 1_000_000_000n
}

function unreadable(error: unknown): SettlementEvidence {
  if (error instanceof ChainUnreadable) return { status: 'could_not_read', reason: error.message }
  throw error
}
