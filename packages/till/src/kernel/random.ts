import { randomBytes, randomFillSync } from 'node:crypto'

/** Randomness is a port: a simulation gives a seeded one. */
export type Rng = { bytes(length: number): Uint8Array }

const pool = Buffer.alloc(4_096)
let used = pool.length

/** Small amounts come from a pool, since one call of the system costs more than what it gives; nothing given stays in it. */
function fromPool(length: number): Uint8Array {
  if (used + length > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = Buffer.from(pool.subarray(used, used + length))
  pool.fill(0, used, used + length)
  used += length
  return bytes
}

export const systemRng: Rng = { bytes: (length) => (length <= 64 ? fromPool(length) : randomBytes(length)) }
