import type { Rng } from '@assay/till/kernel/random'

/** xorshift32: the same numbers each run, so that a statistical test cannot fail by chance. */
export function seededRng(seed: number): Rng {
  let state = seed | 0 || 1
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 7) & 255
  }
  for (let i = 0; i < 16; i += 1) next()
  return { bytes: (length) => Uint8Array.from({ length }, next) }
}
