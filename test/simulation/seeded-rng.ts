import { createHash } from 'node:crypto'
import type { Rng } from '../../packages/till/src/kernel/random.ts'

/** Bytes that depend on the seed and on how many were taken before, and on nothing else. */
export function createSeededRng(seed: string): Rng {
  let count = 0
  let block = Buffer.alloc(0)
  let used = 0
  return {
    bytes: (length) => {
      const bytes = Buffer.alloc(length)
      for (let at = 0; at < length; ) {
        if (used === block.length) {
          block = createHash('sha256').update(`${seed}:${count}`).digest()
          count += 1
          used = 0
        }
        const taken = Math.min(length - at, block.length - used)
        block.copy(bytes, at, used, used + taken)
        used += taken
        at += taken
      }
      return bytes
    },
  }
}

export type Dice = {
  /** A whole number from 0 up to, not including, `below`. */
  below(limit: number): number
  pick<T>(list: readonly T[]): T
}

export function createDice(rng: Rng): Dice {
  const below = (limit: number) => Buffer.from(rng.bytes(6)).readUIntBE(0, 6) % limit
  return { below, pick: (list) => list[below(list.length)] as (typeof list)[number] }
}
