import { refuse } from './refused.ts'

const html = /^\s*<(?:!doctype\s+html|html|head|body)\b/i

export type TextEncoding = 'utf-8' | 'latin-1'

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Bytes to text, or a refusal: wrong encodings, binary content and error pages sent with status 200 stop here. */
export function decodeText(bytes: Uint8Array, encoding: TextEncoding): string {
  if (bytes.byteLength === 0) refuse('empty', 'the file is empty')
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    refuse('encoding', 'the file is UTF-16')
  const hasBom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  const body = hasBom ? bytes.subarray(3) : bytes
  const text = encoding === 'latin-1' && !hasBom ? latin1(body) : utf8(body)
  if (text.includes('\0')) refuse('encoding', 'the file contains NUL bytes')
  if (html.test(text.slice(0, 512))) refuse('html', 'the file is an HTML page, not data')
  return text
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

function utf8(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return refuse('encoding', 'the file is not valid UTF-8')
  }
}

/** Lines without their ends, whichever of LF and CRLF the publisher used that day; no empty last line. */
export function linesOf(text: string): string[] {
  const lines = text.includes('\r') ? text.replaceAll('\r\n', '\n').split('\n') : text.split('\n')
  while (lines.length > 0 && lines[lines.length - 1]?.trim() === '') lines.pop()
  return lines
}
