import { hash, timingSafeEqual } from 'node:crypto'
import type { Hex } from '@assay/protocol/bytes'

export function fromHex(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

/** As `fromBase64` of the protocol, which browsers have too, in native code: nothing but the one spelling of some bytes. */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

export function sha256(data: Uint8Array | string): Buffer {
  return hash('sha256', data, 'buffer')
}

/** For secrets: how long it takes says nothing about where they differ. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}
