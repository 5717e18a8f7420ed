/** How many blocks of logs the providers of a chain give at once: learned from what they refuse. */
export type LogSpan = {
  blocks(): bigint
  took(blocks: bigint): void
  refused(blocks: bigint): void
  /** Calls that one request may hold. */
  atOnce(): number
  refusedAtOnce(calls: number): void
}

const [startBlocks, maxBlocks] = [10_000n, 100_000n]
/** How many consecutive ranges of full width must succeed before a wider one is tried. */
const successesToGrow = 16
const atOnceMax = 12

/** Halved when a range is refused, grown by a quarter after a long time without. */
export function createLogSpan(): LogSpan {
  let blocks = startBlocks
  let taken = 0
  let atOnce = atOnceMax
  return {
    blocks: () => blocks,
    took: (piece) => {
      if (piece < blocks) return
      taken += 1
      if (taken < successesToGrow) return
      taken = 0
      atOnce = Math.min(atOnceMax, atOnce + 1)
      const wider = blocks + blocks / 4n + 1n
      blocks = wider < maxBlocks ? wider : maxBlocks
    },
    refused: (piece) => {
      taken = 0
      const half = piece / 2n
      if (half < blocks) blocks = half > 0n ? half : 1n
    },
    atOnce: () => atOnce,
    refusedAtOnce: (calls) => {
      atOnce = Math.max(1, Math.floor(calls / 2))
    },
  }
}
