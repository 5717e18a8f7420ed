const base64Pattern = /^[A-Za-z0-9+/]+={0,2}$/

/** The bytes of canonical base64 (RFC 4648, 4): padded, nothing but its alphabet, no stray bits. Undefined for the rest. */
export function decodeBase64(text: string): Buffer | undefined {
  if (!base64Pattern.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}
