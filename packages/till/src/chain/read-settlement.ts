import type { Hex } from '@assay/protocol/bytes'
import type { Json } from '@assay/protocol/canonical-json'
import {
  type ChainTransfer,
  ChainUnreadable,
  type ExpectedTransfer,
  type KeyUse,
  type SettlementEvidence,
} from './chain-port.ts'
import type { Network } from './network.ts'
import type { Rpc } from './rpc.ts'
import { type RpcLog, searchLogs } from './search-logs.ts'
import { addressTopic, topicAddress, topics } from './usdc-abi.ts'

export type Receipt = {
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

/** Only what must be alike between endpoints; some add their own fields. */
function relevantOfReceipt(answer: unknown): Json {
  if (typeof answer !== 'object' || answer === null) return null
  const receipt = answer as Receipt
  // Throws for what is no number: such a receipt has no vote.
  gasGwei(receipt)
  return {
    status: receipt.status,
    blockHash: receipt.blockHash,
    logs: receipt.logs.map((log) => [log.address.toLowerCase(), log.topics, log.data, log.logIndex]),
  }
}

/** The lowest of the costs that enough endpoints report, so that no single endpoint can raise it. */
const cheapest = (alike: readonly unknown[]): unknown =>
  (alike as readonly (Receipt | null)[]).reduce((one, other) =>
    one && other && gasGwei(other) < gasGwei(one) ? other : one,
  )

/** Null where there is none, undefined where they do not agree: then they have not all seen the block. */
export async function agreedReceipt(rpc: Rpc, transaction: Hex): Promise<Receipt | null | undefined> {
  const answer = await rpc.agreed('eth_getTransactionReceipt', [transaction], relevantOfReceipt, cheapest)
  return answer as Receipt | null | undefined
}

/** Not all of them have seen the block, or not the same one: that says neither that it is there nor that it is gone. */
export const noAgreedReceipt = {
  status: 'could_not_read',
  reason: 'the endpoints do not agree on a receipt yet',
} as const

/** Reads a receipt ourselves and compares it with what we quoted; nobody's word is taken for it. */
export async function readSettlement(
  rpc: Rpc,
  network: Network,
  transaction: Hex,
  expected: ExpectedTransfer,
): Promise<SettlementEvidence> {
  try {
    const receipt = await agreedReceipt(rpc, transaction)
    if (receipt === undefined) return noAgreedReceipt
    return receipt ? readReceiptEvidence(network, receipt, expected) : { status: 'absent' }
  } catch (error) {
    return unreadable(error)
  }
}

export function readReceiptEvidence(
  network: Network,
  receipt: Receipt,
  expected: ExpectedTransfer,
): SettlementEvidence {
  const transaction = receipt.transactionHash
  const used =
    receipt.status === '0x1' &&
    receipt.logs.some((log) => isUseOf(network, log, topics.authorizationUsed, expected.payer, expected.nonce))
  if (!used) return { status: 'reverted', transaction, gasGwei: gasGwei(receipt) }
  const transfer = transferOfNonce(network, receipt, expected.payer, expected.nonce)
  // An authorization marked as used without its transfer is not what this asset does: nothing is concluded from it.
  if (!transfer) return { status: 'could_not_read', reason: `${transaction} used the nonce without a transfer` }
  if (transfer.recipient !== expected.payTo || transfer.amountMicro !== expected.amountMicro)
    return { status: 'used_otherwise', transfer }
  const { blockNumber, blockHash, position } = transfer
  return { status: 'confirmed', transaction, blockNumber, blockHash, position, gasGwei: gasGwei(receipt) }
}

function transferOfNonce(network: Network, receipt: Receipt, payer: string, nonce: Hex): ChainTransfer | undefined {
  return transfersOf(network, receipt).find((transfer) => transfer.sender === payer && transfer.paymentKey === nonce)
}

/** USDC marks the authorization and transfers in one call, so the log before a transfer names the nonce it was made with. */
export function transfersOf(network: Network, receipt: Receipt): ChainTransfer[] {
  if (receipt.status !== '0x1') return []
  const isUsdc = (log: RpcLog | undefined) => log?.address.toLowerCase() === network.usdc.address
  return receipt.logs.flatMap((log, position): ChainTransfer[] => {
    if (!isUsdc(log) || log.topics[0] !== topics.transfer) return []
    const sender = topicAddress(log.topics[1] ?? '')
    const recipient = topicAddress(log.topics[2] ?? '')
    if (!sender || !recipient) return []
    const before = receipt.logs[position - 1]
    const carried =
      isUsdc(before) &&
      before?.topics[0] === topics.authorizationUsed &&
      topicAddress(before.topics[1] ?? '') === sender
    return [
      {
        transaction: receipt.transactionHash,
        position,
        blockNumber: BigInt(receipt.blockNumber),
        blockHash: receipt.blockHash,
        logIndex: Number(BigInt(log.logIndex)),
        sender,
        recipient,
        amountMicro: BigInt(log.data),
        paymentKey: carried ? before.topics[2] : undefined,
      },
    ]
  })
}

export async function readTransfers(rpc: Rpc, network: Network, transaction: Hex): Promise<ChainTransfer[]> {
  const receipt = await agreedReceipt(rpc, transaction)
  if (!receipt) throw new ChainUnreadable(`no agreed receipt of ${transaction}`)
  return transfersOf(network, receipt)
}

export async function findByNonce(
  rpc: Rpc,
  network: Network,
  expected: ExpectedTransfer,
  fromBlock: bigint,
  toBlock: bigint,
): Promise<SettlementEvidence> {
  const use = await findNonceUse(rpc, network, expected, { fromBlock, toBlock })
  if (use.status !== 'transfer') return use
  return readSettlement(rpc, network, use.transfer.transaction, expected)
}

/** That money moved, and that it did not, is believed from a receipt the endpoints agree on, never from a log search. */
export async function findNonceUse(
  rpc: Rpc,
  network: Network,
  { payer, nonce }: Pick<ExpectedTransfer, 'payer' | 'nonce'>,
  blocks: { fromBlock: bigint; toBlock: bigint },
): Promise<KeyUse> {
  try {
    const [log] = await searchLogs(rpc, {
      address: network.usdc.address,
      topics: [[topics.authorizationUsed, topics.authorizationCanceled], addressTopic(payer), nonce],
      ...blocks,
    })
    if (!log) return { status: 'absent' }
    const receipt = await agreedReceipt(rpc, log.transactionHash)
    if (receipt?.status !== '0x1') return { status: 'could_not_read', reason: 'no agreed receipt yet' }
    const transfer = transferOfNonce(network, receipt, payer, nonce)
    if (transfer) return { status: 'transfer', transfer }
    if (!receipt.logs.some((one) => isUseOf(network, one, topics.authorizationCanceled, payer, nonce)))
      return { status: 'could_not_read', reason: 'the endpoints do not agree on what the nonce was used for' }
    const { transactionHash: transaction, blockHash } = receipt
    return { status: 'canceled', transaction, blockNumber: BigInt(receipt.blockNumber), blockHash }
  } catch (error) {
    return unreadable(error)
  }
}

function isUseOf(network: Network, log: RpcLog, topic: Hex, payer: string, nonce: Hex): boolean {
  return (
    log.address.toLowerCase() === network.usdc.address &&
    log.topics[0] === topic &&
    topicAddress(log.topics[1] ?? '') === payer &&
    log.topics[2] === nonce
  )
}

/** Rounded up: a cost is never shown smaller than it was. */
export function gasGwei(receipt: Receipt): bigint {
  const wei = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice ?? '0x0') + BigInt(receipt.l1Fee ?? '0x0')
  return (wei + 999_999_999n) / 1_000_000_000n
}

export function unreadable(error: unknown): { status: 'could_not_read'; reason: string } {
  if (error instanceof ChainUnreadable) return { status: 'could_not_read', reason: error.message }
  throw error
}
