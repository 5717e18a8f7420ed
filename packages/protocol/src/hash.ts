import { keccak256 as keccakOf, sha256 as sha256Of } from 'viem/utils'

/** A hash of bytes. Functions that a seller runs for every payment take one: the portable ones are slower than its own. */
export type Hash<Digest extends Uint8Array = Uint8Array> = (bytes: Uint8Array) => Digest

export const sha256 = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  sha256Of(bytes, 'bytes') as Uint8Array<ArrayBuffer>

/** Keccak-256 as Ethereum uses it. */
export const keccak256 = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  keccakOf(bytes, 'bytes') as Uint8Array<ArrayBuffer>
