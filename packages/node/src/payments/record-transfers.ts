import { type ChainPort, type ChainTransfer, ChainUnreadable, type TransferLog } from '../chain/index.ts'
import type { Address } from '../kernel/address.ts'
import type { ReconcileDeps, ReconciledAddress } from './reconcile.ts'
import { advanceCursor, type Cursor, sendersWithClaims } from './store-reconcile.ts'

/** Blocks looked at between two writes of the cursor. */
const blocksPerStep = 5_000n
/** Receipts read between two writes of the cursor, unless one block alone has more. */
const transactionsPerStep = 500
const receiptsAtOnce = 8
/** Smaller transfers of senders without a claim are booked in sum: their receipts would cost more than they are worth. */
export const dustMicro = 1_000n

/**
 * Records every transfer of an address up to a final block, as rows, and moves the cursor with them in one transaction.
 * Nothing is explained here, so no transfer can hold up the next.
 */
export async function recordTransfers(
  deps: ReconcileDeps,
  target: ReconciledAddress,
  cursor: Cursor,
  finalNumber: bigint,
): Promise<void> {
  let { blockNumber } = cursor
  while (blockNumber < finalNumber) {
    const to = blockNumber + blocksPerStep < finalNumber ? blockNumber + blocksPerStep : finalNumber
    const step = await readStep(deps, target, blockNumber + 1n, to)
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

async function readStep(
  deps: ReconcileDeps,
  { chain, address }: ReconciledAddress,
  fromBlock: bigint,
  toBlock: bigint,
): Promise<RecordedStep> {
  // Anyone may send nothing, from anyone, as often as gas is cheap: it is no money.
  const logs = (await chain.transferLogs(address, fromBlock, toBlock)).filter(({ amountMicro }) => amountMicro > 0n)
  const isDust = (log: TransferLog) =>
    log.recipient === address && log.sender !== address && log.amountMicro < dustMicro
  const payers = [...new Set(logs.filter(isDust).map(({ sender }) => sender))]
  const claimed = await sendersWithClaims(deps.database, chain.network.caip2, payers)
  const dust = logs.filter((log) => isDust(log) && !claimed.has(log.sender))
  const own = new Set(dust)
  const wanted = cutAtBlock(logs.filter((log) => !own.has(log)))
  const lastBlock = wanted.cut ?? toBlock
  const kept = dust.filter(({ blockNumber }) => blockNumber <= lastBlock)
  return {
    toBlock: lastBlock,
    transfers: await readTransfers(chain, address, wanted.logs),
    dust: { micro: kept.reduce((sum, { amountMicro }) => sum + amountMicro, 0n), count: kept.length },
  }
}

/** At most so many transactions a step, in whole blocks. */
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
