import type { Hex } from '@assay/protocol/bytes'
import { nowSeconds } from '../kernel/clock.ts'
import type { ChainState } from './chain-state.ts'
import { type BlockEntry, blockCalls, type HistoryEntry, headOf, type JournalEntry } from './history.ts'
import { RpcError, rpcCodes } from './rpc-error.ts'

/** Makes the next block out of what waits and writes it to the journal. Runs under `lock.exclusive`. */
export async function produceBlock(state: ChainState, options: { timestamp?: number; randao?: Hex } = {}) {
  refuseIfBroken(state)
  const timestamp = Math.max(state.head.timestamp, options.timestamp ?? state.nextTimestamp ?? chainSeconds(state))
  const answers = await state.engine.batch([
    ...blockCalls(timestamp, options.randao),
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
  ])
  const block = answers.at(-1) as { transactions: Hex[] }
  const head = headOf(block)
  const entry: BlockEntry = {
    kind: 'block',
    timestamp,
    transactions: block.transactions.map((hash) => rawOf(state, hash)),
    hash: head.hash,
    ...(options.randao === undefined ? {} : { randao: options.randao }),
  }
  record(state, entry)
  state.head = head
  state.nextTimestamp = undefined
  for (const hash of block.transactions) state.mempool.remove(hash)
  return { head, transactions: block.transactions }
}

/** Adds to the history, in the file first. */
export function record(state: ChainState, entry: HistoryEntry): void {
  writeJournal(state, entry)
  state.history.push(entry)
}

/** A chain whose journal cannot be written is ahead of what a restart would know: it must not answer any more. */
export function writeJournal(state: ChainState, entry: JournalEntry): void {
  refuseIfBroken(state)
  try {
    state.journal.append([entry])
  } catch (error) {
    state.broken = error as Error
    state.log.error({ chainId: state.chainId, error: String(error) }, 'the chain journal cannot be written')
    throw error
  }
}

/** Nothing may happen on a chain that can no longer remember it. */
export function refuseIfBroken(state: ChainState): void {
  if (state.broken !== undefined) throw new RpcError(rpcCodes.server, `the chain stopped: ${state.broken.message}`)
}

/** The time of the next block: the clock, moved by what tests added to it. */
export function chainSeconds(state: ChainState): number {
  return nowSeconds(state.clock) + state.clockOffsetSeconds
}

function rawOf(state: ChainState, hash: Hex): Hex {
  const waiting = state.mempool.get(hash)
  if (waiting === undefined) throw new Error(`block has a transaction nobody sent through this chain: ${hash}`)
  return waiting.raw
}
