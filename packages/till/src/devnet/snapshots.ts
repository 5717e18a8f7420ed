import type { ChainState } from './chain-state.ts'
import { writeJournal } from './produce-block.ts'
import { createWaitingPool } from './waiting-pool.ts'

/** evm_snapshot: a point to come back to, valid until the process ends or a reorg replaces the chain. */
export function takeSnapshot(state: ChainState): Promise<string> {
  return state.lock.exclusive(async () => {
    const id = (await state.engine.call('evm_snapshot')) as string
    state.snapshots.set(id, {
      historyLength: state.history.length,
      head: state.head,
      waiting: state.mempool.all(),
    })
    return id
  })
}

/** evm_revert: history after the snapshot is cut off, in the journal too. False for a snapshot that is gone. */
export async function revertSnapshot(state: ChainState, id: string): Promise<boolean> {
  const reverted = await state.lock.exclusive(async () => {
    const snapshot = state.snapshots.get(id)
    if (snapshot === undefined || !(await state.engine.call('evm_revert', [id]))) return false
    for (const other of [...state.snapshots.keys()]) if (BigInt(other) >= BigInt(id)) state.snapshots.delete(other)
    writeJournal(state, { kind: 'rewind', length: snapshot.historyLength })
    state.history.length = snapshot.historyLength
    state.head = snapshot.head
    state.mempool = createWaitingPool(snapshot.waiting)
    return true
  })
  await state.journal.flushed()
  return reverted
}
