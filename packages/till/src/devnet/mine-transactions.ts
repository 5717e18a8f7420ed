import type { Hex } from '@assay/protocol/bytes'
import type { ChainState } from './chain-state.ts'
import { isStillInLine } from './mempool.ts'
import { produceBlock } from './produce-block.ts'

/** Turns waiting transactions into blocks; what arrives while one block is being made shares the next one. */
export type BlockProducer = {
  /** Resolves once the transaction is in a block that is on the disk. */
  include(hash: Hex): Promise<void>
  /** Makes one block, empty if nothing waits, also while mining is held. */
  makeBlock(timestamp?: number): Promise<void>
  /** An empty block now, if mining is automatic; callers that come together share it. Not waiting for the disk. */
  keepUp(): Promise<void>
  /** Makes blocks until nothing that can be included waits any more. */
  drain(): Promise<void>
}

export function createBlockProducer(state: ChainState): BlockProducer {
  let scheduled: Promise<void> | undefined

  // Callers that come before the block is begun share it.
  const nextBlock = (): Promise<void> => {
    scheduled ??= state.lock.exclusive(async () => {
      scheduled = undefined
      if (state.mining === 'automatic') await produceBlock(state)
    })
    return scheduled
  }

  return {
    keepUp: nextBlock,
    include: async (hash) => {
      // More than one block where the first is full; none where the transaction lost its place meanwhile.
      do await nextBlock()
      while (state.mining === 'automatic' && (await state.lock.shared(() => isStillInLine(state, hash))))
      await state.journal.flushed()
    },
    makeBlock: async (timestamp) => {
      await state.lock.exclusive(() => produceBlock(state, timestamp === undefined ? {} : { timestamp }))
      await state.journal.flushed()
    },
    drain: async () => {
      await state.lock.exclusive(async () => {
        while (await somethingIsReady(state)) await produceBlock(state)
      })
      await state.journal.flushed()
    },
  }
}

async function somethingIsReady(state: ChainState): Promise<boolean> {
  for (const { hash } of state.mempool.all()) if (await isStillInLine(state, hash)) return true
  return false
}
