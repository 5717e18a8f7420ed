import crypto, { createHash, timingSafeEqual } from 'node:crypto'

export type Hex = `0x${string}`

const hexPattern = /^0x(?:[0-9a-fA-F]{2})*$/

export function isHex(text: unknown, byteLength?: number): text is Hex {
  return (
    typeof text === 'string' &&
    hexPattern.test(text) &&
    (byteLength === undefined || text.length === 2 + byteLength * 2)
  )
}

export function toHex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`
}

export function fromHex(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

// One call instead of three objects; missing from the first releases of Node 20.
const oneShot: typeof crypto.hash | undefined = crypto.hash

export function sha256(data: Uint8Array | string): Buffer {
  return oneShot ? oneShot('sha256', data, 'buffer') : createHash('sha256').update(data).digest()
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}
