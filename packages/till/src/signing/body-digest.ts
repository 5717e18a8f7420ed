import { sha256 } from '../kernel/bytes.ts'

const known = new WeakMap<Uint8Array, Buffer>()

/** sha256 of body bytes, computed once per buffer: cached answers are the same buffer each time, and never changed. */
export function bodyDigest(body: Uint8Array): Buffer {
  const before = known.get(body)
  if (before !== undefined) return before
  const digest = sha256(body)
  known.set(body, digest)
  return digest
}
