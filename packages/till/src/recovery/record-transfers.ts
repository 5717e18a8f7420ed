import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import {
  type ChainPort,
  type ChainTransfer,
  ChainUnreadable,
  type Network,
  type TransferLog,
  usdcOf,
} from '../chain/index.ts'
import { dustMicro, sendersWithClaims } from '../gate/dust.ts'
import type { ReconcileDeps, ReconciledAddress } from './reconcile.ts'
import { advanceCursor, type Cursor, recordedTransactions } from './store-reconcile.ts'

/** Blocks checked between two writes of the cursor. */
const blocksPerStep = 5_000n
/** Receipts read between two writes of the cursor, unless one block alone has more. */
const transactionsPerStep = 500
const receiptsAtOnce = 8

/** Transfers into or out of an address, as the logs show them. */
export type LogsOf = (address: Address, fromBlock: bigint, toBlock: bigint) => Promise<TransferLog[]>

type RecordDeps = ReconcileDeps & { logsOf: LogsOf }

/**
 * Records every transfer of an address up to a final block, as rows, and moves the cursor with them in one transaction.
 * Nothing is explained here, so no transfer can hold up the next.
 */
export async function recordTransfers(
  deps: RecordDeps,
  target: ReconciledAddress,
  cursor: Cursor,
  finalNumber: bigint,
  /** All addresses of the node on this chain: what moves between them is recorded however little it is. */
  ours: ReadonlySet<Address>,
): Promise<void> {
  let { blockNumber } = cursor
  while (blockNumber < finalNumber) {
    const to = blockNumber + blocksPerStep < finalNumber ? blockNumber + blocksPerStep : finalNumber
    const step = await readStep(deps, target, ours, blockNumber + 1n, to)
    const moved = await advanceCursor(deps.database, { ...cursor, blockNumber }, target, step, deps.clock.nowMs())
    if (!moved) throw new ChainUnreadable('another process recorded this address meanwhile')
    blockNumber = step.toBlock
  }
}

export type RecordedStep = {
  toBlock: bigint
  transfers: readonly ChainTransfer[]
  /** Dust that arrived, in sum and in number. */
  dust: { micro: bigint; count: number }
}

type Moved = Pick<ChainTransfer, 'sender' | 'recipient' | 'amountMicro'>

async function readStep(
  deps: RecordDeps,
  { chain, address }: ReconciledAddress,
  ours: ReadonlySet<Address>,
  fromBlock: bigint,
  toBlock: bigint,
): Promise<RecordedStep> {
  // Anyone can emit transfers of zero, in anyone's name, for the price of gas: they move no money.
  const logs = (await deps.logsOf(address, fromBlock, toBlock)).filter(({ amountMicro }) => amountMicro > 0n)
  const isDust = ({ sender, recipient, amountMicro }: Moved) =>
    recipient === address && !ours.has(sender) && amountMicro < dustMicro
  const toRead = await transactionsToRead(deps, chain.network, logs, isDust)
  const wanted = cutAtBlock(logs.filter(({ transaction }) => toRead.has(transaction)))
  const lastBlock = wanted.cut ?? toBlock
  const transfers = await withKeys(deps, chain.network, address, await readTransfers(chain, address, wanted.logs))
  const isCounted = (transfer: ChainTransfer) => isDust(transfer) && transfer.paymentKey === undefined
  const dust = [
    ...logs.filter(({ transaction, blockNumber }) => !toRead.has(transaction) && blockNumber <= lastBlock),
    ...transfers.filter(isCounted),
  ]
  return {
    toBlock: lastBlock,
    transfers: transfers.filter((transfer) => !isCounted(transfer)),
    dust: { micro: dust.reduce((sum, { amountMicro }) => sum + amountMicro, 0n), count: dust.length },
  }
}

/**
 * The key of a payment that its receipt does not show, as the schemes find it. Without it, little money that paid for
 * something would be counted a second time as dust.
 */
async function withKeys(
  { schemes }: ReconcileDeps,
  network: Network,
  address: Address,
  transfers: readonly ChainTransfer[],
): Promise<ChainTransfer[]> {
  const asset = usdcOf(network)
  const found: ChainTransfer[] = []
  for (const transfer of transfers) {
    let { paymentKey } = transfer
    if (transfer.recipient === address)
      for (const { evidence } of schemes.all)
        paymentKey ??= await evidence.keyOf({ ...transfer, network: network.caip2, asset })
    found.push({ ...transfer, paymentKey })
  }
  return found
}

/**
 * A receipt shows every transfer of its transaction, so a transaction is read or counted as a whole: one whose larger
 * transfer is read and whose dust is counted from its logs would have that dust in the books twice.
 */
async function transactionsToRead(
  deps: ReconcileDeps,
  network: Network,
  logs: readonly TransferLog[],
  isDust: (log: TransferLog) => boolean,
): Promise<Set<Hex>> {
  const dust = logs.filter(isDust)
  const claimed = await sendersWithClaims(deps.database, network.caip2, [...new Set(dust.map(({ sender }) => sender))])
  const toRead = await recordedTransactions(deps.database, network, [
    ...new Set(dust.map(({ transaction }) => transaction)),
  ])
  for (const log of logs) if (!isDust(log) || claimed.has(log.sender)) toRead.add(log.transaction)
  return toRead
}

/** The most transactions of one step, in whole blocks. */
function cutAtBlock(logs: readonly TransferLog[]): { logs: readonly TransferLog[]; cut?: bigint } {
  const sorted = [...logs].sort((one, other) => Number(one.blockNumber - other.blockNumber))
  const seen = new Set<string>()
  for (const [index, log] of sorted.entries()) {
    seen.add(log.transaction)
    const next = sorted[index + 1]
    if (seen.size >= transactionsPerStep && next && next.blockNumber > log.blockNumber)
      return { logs: sorted.slice(0, index + 1), cut: log.blockNumber }
  }
  return { logs: sorted }
}

/** One receipt per transaction; what the logs show must be in it, and counts as the receipt has it. */
async function readTransfers(
  chain: ChainPort,
  address: Address,
  logs: readonly TransferLog[],
): Promise<ChainTransfer[]> {
  const transactions = [...new Set(logs.map(({ transaction }) => transaction))]
  const found: ChainTransfer[] = []
  for (let start = 0; start < transactions.length; start += receiptsAtOnce) {
    const receipts = await Promise.all(
      transactions.slice(start, start + receiptsAtOnce).map((transaction) => chain.transfersIn(transaction)),
    )
    for (const transfers of receipts)
      found.push(
        ...transfers.filter(
          ({ sender, recipient, amountMicro }) => amountMicro > 0n && (sender === address || recipient === address),
        ),
      )
  }
  return found
}
