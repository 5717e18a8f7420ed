import { sha256 } from '../kernel/bytes.ts'

const emptyDigest = sha256('')

export function digestBody(body: Uint8Array | string): Uint8Array {
  return body.length === 0 ? emptyDigest : sha256(body)
}
