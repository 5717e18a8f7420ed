const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const notInAlphabet = 64
const sixBits = new Uint8Array(128).fill(notInAlphabet)
for (let i = 0; i < alphabet.length; i += 1) sixBits[alphabet.charCodeAt(i)] = i

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length; i += 3) {
    const [a, b, c] = [bytes[i] as number, bytes[i + 1] ?? 0, bytes[i + 2] ?? 0]
    text += `${alphabet[a >> 2]}${alphabet[((a & 3) << 4) | (b >> 4)]}`
    text += i + 1 < bytes.length ? alphabet[((b & 15) << 2) | (c >> 6)] : '='
    text += i + 2 < bytes.length ? alphabet[c & 63] : '='
  }
  return text
}

/** The bytes of canonical base64 (RFC 4648, 4): padded, nothing but its alphabet, no stray bits. Undefined for the rest. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0) return undefined
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return decode(text, text.length - padding)
}

/** `length` characters carry bits; the last of them may hold bits that no byte uses, and they must be zero. */
function decode(text: string, length: number): Uint8Array<ArrayBuffer> | undefined {
  if (length % 4 === 1) return undefined
  const bytes = new Uint8Array((length * 3) >> 2)
  let bits = 0
  let held = 0
  let at = 0
  for (let i = 0; i < length; i += 1) {
    const value = sixBits[text.charCodeAt(i)] ?? notInAlphabet
    if (value === notInAlphabet) return undefined
    held = ((held << 6) | value) & 0xfff
    bits += 6
    if (bits < 8) continue
    bits -= 8
    bytes[at] = held >> bits
    at += 1
  }
  return (held & ((1 << bits) - 1)) === 0 ? bytes : undefined
}

export function toBase64url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** The same for base64url (RFC 4648, 5), which is written without padding. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (/[+/]/.test(text)) return undefined
  return decode(text.replaceAll('-', '+').replaceAll('_', '/'), text.length)
}
