import { hash } from 'node:crypto'

const blockBytes = 64
const digestBytes = 32

/**
 * HMAC-SHA-256 (RFC 2104) of short ASCII texts under one key, as base64url. node:crypto makes an object with a finalizer
 * for each `createHmac`, which costs a busy process several times the hashing itself; `hash` makes none.
 */
export function createHmacOf(key: Uint8Array): (ascii: string) => string {
  if (key.length > blockBytes) throw new Error(`an HMAC key has at most ${blockBytes} bytes here`)
  const padded = (pad: number) => Uint8Array.from({ length: blockBytes }, (_, at) => (key[at] ?? 0) ^ pad)
  let inner = Buffer.from(padded(0x36))
  const outer = Buffer.concat([padded(0x5c)], blockBytes + digestBytes)
  return (ascii) => {
    const length = blockBytes + ascii.length
    if (inner.length !== length) inner = Buffer.concat([inner.subarray(0, blockBytes)], length)
    inner.write(ascii, blockBytes, 'latin1')
    outer.write(hash('sha256', inner, 'binary'), blockBytes, 'latin1')
    return hash('sha256', outer, 'base64url')
  }
}
