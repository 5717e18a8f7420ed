import { createKeccak } from 'hash-wasm'

// Compiled once while the module loads, so that every later call is synchronous.
const hasher = await createKeccak(256)

/** Keccak-256 as Ethereum uses it. */
export function keccak256(bytes: Uint8Array): Buffer {
  const digest = hasher.init().update(bytes).digest('binary')
  return Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength)
}
