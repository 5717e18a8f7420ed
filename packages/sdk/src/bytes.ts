/** Encodings that browsers and Node share. */
const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/
const base64urlPattern = /^[A-Za-z0-9_-]*$/

export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** Undefined for anything but plain base64. Two texts never give the same bytes, padding aside. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!base64Pattern.test(text)) return undefined
  try {
    const binary = atob(text)
    const bytes = new Uint8Array(binary.length)
    for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i)
    return hasSpareBits(text, bytes) ? undefined : bytes
  } catch {
    return undefined
  }
}

/** The last character may hold bits that no byte takes up: they must be zero. */
function hasSpareBits(text: string, bytes: Uint8Array): boolean {
  const rest = bytes.length % 3
  if (rest === 0) return false
  const last = toBase64(bytes.subarray(bytes.length - rest)).replaceAll('=', '')
  return !text.replace(/=+$/, '').endsWith(last)
}

export function fromBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!base64urlPattern.test(text)) return undefined
  return fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
}

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

/** The JSON object in a base64 header, or undefined. */
export function decodeHeader(value: string, charsMax: number): Record<string, unknown> | undefined {
  return value.length > charsMax ? undefined : decodeJson(value)
}

/** The JSON object in base64, or undefined. */
export function decodeJson(value: string): Record<string, unknown> | undefined {
  const bytes = fromBase64(value)
  if (bytes === undefined) return undefined
  try {
    const parsed: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return isRecord(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

export function encodeHeader(value: unknown): string {
  return toBase64(utf8(JSON.stringify(value)))
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
