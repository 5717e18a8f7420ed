/** Text of the bytes in the encoding that BOM, header or nothing (UTF-8) says; undefined when they are not that. */
export function decodeText(bytes: Uint8Array, contentType: string | undefined): string | undefined {
  const [, charset = 'utf-8'] = /charset\s*=\s*"?([A-Za-z0-9_:.-]{1,40})/i.exec(contentType ?? '') ?? []
  const label = bomOf(bytes) ?? charset.toLowerCase()
  // UTF-7 was only ever an attack; anything the platform does not know is not guessed at.
  if (label === 'utf-7') return undefined
  try {
    const text = new TextDecoder(label, { fatal: true }).decode(bytes)
    return text.includes('\u0000') ? undefined : text
  } catch {
    return undefined
  }
}

function bomOf(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return undefined
}
