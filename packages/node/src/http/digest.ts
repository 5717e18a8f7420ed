import * as crypto from 'node:crypto'
import { sha256 } from '../kernel/bytes.ts'

// One call instead of three objects; missing from the first releases of Node 20.
const oneShot: typeof crypto.hash | undefined = crypto.hash

const emptyDigest = sha256('')

export function digestBody(body: Uint8Array | string): Uint8Array {
  if (body.length === 0) return emptyDigest
  return oneShot === undefined ? sha256(body) : oneShot('sha256', body, 'buffer')
}
