import { type Hex, toHex } from '@assay/protocol/bytes'
import { fromHex } from '@assay/till/kernel/bytes'

const stepBytes = 32

/** A proof as the database keeps it: its hashes, joined. */
export const packProof = (proof: readonly Hex[]): Buffer => Buffer.concat(proof.map(fromHex))

export const unpackProof = (packed: Buffer): Hex[] =>
  Array.from({ length: packed.length / stepBytes }, (_, step) =>
    toHex(packed.subarray(step * stepBytes, (step + 1) * stepBytes)),
  )
