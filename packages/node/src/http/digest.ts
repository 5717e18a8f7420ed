import { sha256 } from '@assay/till/kernel/bytes'

const emptyDigest = sha256('')

export function digestBody(body: Uint8Array | string): Uint8Array {
  return body.length === 0 ? emptyDigest : sha256(body)
}
