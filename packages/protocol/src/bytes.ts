export type Hex = `0x${string}`

const hexPattern = /^0x(?:[0-9a-fA-F]{2})*$/

export function isHex(text: unknown, byteLength?: number): text is Hex {
  return (
    typeof text === 'string' &&
    hexPattern.test(text) &&
    (byteLength === undefined || text.length === 2 + byteLength * 2)
  )
}

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Without `0x`. */
export function toHexDigits(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length; i += 1) text += hexOfByte[bytes[i] as number]
  return text
}

export function toHex(bytes: Uint8Array): Hex {
  return `0x${toHexDigits(bytes)}`
}

/** Value of a character `0-9`, `a-f` or `A-F`: bit 6 marks letters, whose number is in the low bits. */
const digitOf = (unit: number) => (unit & 15) + (unit >> 6) * 9

/** `hex` is known to be hex: see `isHex`. */
export function fromHex(hex: Hex): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array((hex.length - 2) >> 1)
  for (let i = 0; i < bytes.length; i += 1)
    bytes[i] = (digitOf(hex.charCodeAt(2 + 2 * i)) << 4) | digitOf(hex.charCodeAt(3 + 2 * i))
  return bytes
}

const encoder = new TextEncoder()

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text) as Uint8Array<ArrayBuffer>
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined for bytes that are not UTF-8: read leniently, two files could say the same. */
export function fromUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** Header text as it travels: one byte per character. */
export function latin1(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i)
  return bytes
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** For public values only: it is not constant-time. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false
  return true
}
