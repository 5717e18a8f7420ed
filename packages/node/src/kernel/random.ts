import { randomBytes } from 'node:crypto'

/** Randomness is a port: a simulation gives a seeded one. */
export type Rng = { bytes(length: number): Uint8Array }

export const systemRng: Rng = { bytes: (length) => randomBytes(length) }
