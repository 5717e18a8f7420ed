import { type Hex, toHex } from '@assay/protocol/bytes'
import { sha256 } from '../kernel/bytes.ts'
import type { ChainState } from './chain-state.ts'
import { createEngine } from './edr.ts'
import type { BlockEntry, StateEntry } from './history.ts'
import { replay } from './history.ts'
import { enterMempool } from './mempool.ts'
import { produceBlock, record, writeJournal } from './produce-block.ts'
import { RpcError, rpcCodes } from './rpc-error.ts'
import { createWaitingPool } from './waiting-pool.ts'

export type ReorgOptions = {
  /**
   * What becomes of the transactions in the replaced blocks. Default: they are in the new blocks again, in order.
   * Transactions that return to the mempool go into the next block, whatever mines it; hold mining first to keep them there.
   */
  transactions?: 'reinclude' | 'return_to_mempool' | 'drop'
  /** Transactions that vanish, whatever happens to the others. */
  drop?: readonly Hex[]
  /** How many blocks replace the old ones. Default: one more than were removed, as the longer branch wins. */
  newBlocks?: number
}

export type ReorgResult = { removed: Hex[]; added: Hex[]; dropped: Hex[] }

/**
 * Replaces the last `depth` blocks by others. The chain is made again up to the fork and continued from there on a
 * fresh engine: no snapshot per block has to be kept for the rare test that needs one.
 */
export async function reorganize(state: ChainState, depth: number, options: ReorgOptions = {}): Promise<ReorgResult> {
  const result = await state.lock.exclusive(() => replaceBlocks(state, depth, options))
  await state.journal.flushed()
  return result
}

async function replaceBlocks(state: ChainState, depth: number, options: ReorgOptions): Promise<ReorgResult> {
  const forkLength = forkPoint(state, depth)
  const cut = state.history.slice(forkLength)
  const oldBlocks = cut.filter((entry): entry is BlockEntry => entry.kind === 'block')
  const oldHashes = await hashesOf(state, oldBlocks.length)
  const waitingBefore = state.mempool.all()
  const forkNumber = state.head.number - depth

  const engine = await createEngine(state.genesis)
  const head = await replay(engine, state.history.slice(0, forkLength))
  writeJournal(state, { kind: 'rewind', length: forkLength })
  Object.assign(state, { engine, head, mempool: createWaitingPool(), snapshots: new Map(), nextTimestamp: undefined })
  state.history.length = forkLength

  for (const entry of cut.filter((one): one is StateEntry => one.kind === 'state')) {
    await engine.call(entry.method, entry.params)
    record(state, entry)
  }
  const added: Hex[] = []
  const returned: Hex[] = []
  const dropped: Hex[] = []
  const newBlocks = Math.max(options.newBlocks ?? depth + 1, 1)
  for (let index = 0; index < Math.max(newBlocks, oldBlocks.length); index += 1) {
    const old = oldBlocks[index]
    const hashes = oldHashes[index]?.transactions ?? []
    for (const [position, raw] of (old?.transactions ?? []).entries()) {
      const hash = hashes[position] as Hex
      if (options.transactions === 'drop' || options.drop?.includes(hash)) dropped.push(hash)
      else if (options.transactions === 'return_to_mempool' || index >= newBlocks) returned.push(raw)
      else await enterMempool(state, raw)
    }
    if (index >= newBlocks) continue
    // Same content must still be another block: the randomness field is what may differ freely.
    const randao = toHex(sha256(`${oldHashes[0]?.hash}:${forkNumber}:${index}`))
    const block = await produceBlock(state, { randao, ...(old === undefined ? {} : { timestamp: old.timestamp }) })
    added.push(block.head.hash)
  }
  // What no longer fits (its nonce is taken on the new branch) is gone, as on any node.
  for (const raw of [...returned, ...waitingBefore.map((waiting) => waiting.raw)])
    await enterMempool(state, raw).catch(() => undefined)
  return { removed: oldHashes.map(({ hash }) => hash), added, dropped }
}

/** Number of history entries before the first of the last `depth` blocks. The deployment of the dollar stays. */
function forkPoint(state: ChainState, depth: number): number {
  if (!Number.isSafeInteger(depth) || depth < 1 || depth > state.head.number - 1)
    throw new RpcError(rpcCodes.invalidParams, `a reorg can replace 1 to ${state.head.number - 1} blocks here`)
  let blocks = 0
  for (let index = state.history.length - 1; index >= 0; index -= 1) {
    if (state.history[index]?.kind === 'block') blocks += 1
    if (blocks === depth) return index
  }
  throw new RpcError(rpcCodes.internal, 'the history is shorter than the chain')
}

async function hashesOf(state: ChainState, depth: number): Promise<{ hash: Hex; transactions: Hex[] }[]> {
  const blocks: { hash: Hex; transactions: Hex[] }[] = []
  for (let number = state.head.number - depth + 1; number <= state.head.number; number += 1)
    blocks.push(
      (await state.engine.call('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])) as {
        hash: Hex
        transactions: Hex[]
      },
    )
  return blocks
}
