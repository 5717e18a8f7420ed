import crypto, { createHash, timingSafeEqual } from 'node:crypto'
import type { Hex } from '@assay/protocol/bytes'

export function fromHex(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

// One call instead of three objects; missing from the first releases of Node 20.
const oneShot: typeof crypto.hash | undefined = crypto.hash

export function sha256(data: Uint8Array | string): Buffer {
  return oneShot ? oneShot('sha256', data, 'buffer') : createHash('sha256').update(data).digest()
}

/** For secrets: how long it takes says nothing about where they differ. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}
