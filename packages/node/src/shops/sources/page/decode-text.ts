/** Text of the bytes in the encoding that BOM, header or nothing (UTF-8) says; undefined when they are not that. */
export function decodeText(bytes: Uint8Array, contentType: string | undefined): string | undefined {
  return decode(bytes, bomOf(bytes) ?? charsetOf(contentType) ?? 'utf-8')
}

/**
 * The same for HTML, which may also name its encoding in a meta tag. A page that names none and is not UTF-8 is taken as
 * windows-1252, as browsers do.
 */
export function decodeHtml(bytes: Uint8Array, contentType: string | undefined): string | undefined {
  const named = bomOf(bytes) ?? charsetOf(contentType) ?? metaCharset(bytes)
  if (named !== undefined) return decode(bytes, named)
  return decode(bytes, 'utf-8') ?? decode(bytes, 'windows-1252')
}

function decode(bytes: Uint8Array, label: string): string | undefined {
  // UTF-7 was only ever an attack; anything the platform does not know is not guessed at.
  if (label === 'utf-7') return undefined
  try {
    const text = new TextDecoder(label, { fatal: true }).decode(bytes)
    return text.includes('\u0000') ? undefined : text
  } catch {
    return undefined
  }
}

const charsetOf = (contentType: string | undefined) =>
  /charset\s*=\s*["']?([A-Za-z0-9_:.-]{1,40})/i.exec(contentType ?? '')?.[1]?.toLowerCase()

/** HTML asks for the tag within the first 1024 bytes; a page that names UTF-16 there is not in UTF-16, or we could not read it. */
function metaCharset(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 1_024))
    .toString('latin1')
    .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
  for (const [tag] of head.matchAll(/<meta\b[^>]{0,500}>/gi)) {
    const named = charsetOf(tag)
    if (named !== undefined) return /^utf-16/.test(named) ? 'utf-8' : named
  }
  return undefined
}

function bomOf(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return undefined
}
