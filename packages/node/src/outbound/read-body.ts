import { Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import type { FailedReason } from './outcome.ts'

/** The body broke a rule of ours. */
export class BodyProblem extends Error {
  readonly reason: FailedReason

  constructor(reason: FailedReason, detail: string) {
    super(detail)
    this.reason = reason
  }
}

export type BodyLimits = { maxBytes: number; onTooLarge: 'fail' | 'cut' }

// Ordinary text reaches 20, tables perhaps 60. Below the floor a high ratio costs nothing.
const ratioMax = 100
const ratioFloorBytes = 1024 * 1024

/** Decoded bytes, read piece by piece so that a bomb is met at the cap and never held whole. */
export async function readBody(
  source: AsyncIterable<Buffer>,
  contentEncoding: string,
  limits: BodyLimits,
  signal: AbortSignal,
): Promise<{ bytes: Uint8Array; cut: boolean }> {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (codings.length > 1) throw new BodyProblem('encoding', 'more than one content coding')
  const raw = { bytes: 0 }
  const counted = countRaw(
    source,
    raw,
    codings.length > 0 || limits.onTooLarge === 'fail' ? limits.maxBytes : Number.POSITIVE_INFINITY,
  )
  const decoded = codings[0] === undefined ? counted : decode(counted, codings[0], signal)
  const parts: Buffer[] = []
  let total = 0
  for await (const part of decoded) {
    total += part.length
    parts.push(part)
    if (codings.length > 0 && total > ratioFloorBytes && total > raw.bytes * ratioMax && limits.onTooLarge === 'fail')
      throw new BodyProblem('ratio', `the body grows more than ${ratioMax} times when unpacked`)
    if (total <= limits.maxBytes) continue
    if (limits.onTooLarge === 'fail')
      throw new BodyProblem('too_large', `the body is larger than ${limits.maxBytes} bytes`)
    return { bytes: Buffer.concat(parts).subarray(0, limits.maxBytes), cut: true }
  }
  return { bytes: Buffer.concat(parts), cut: false }
}

// A coded body of endless empty blocks unpacks to nothing, so what arrives has its own cap.
async function* countRaw(source: AsyncIterable<Buffer>, raw: { bytes: number }, maxBytes: number) {
  for await (const part of source) {
    raw.bytes += part.length
    if (raw.bytes > maxBytes) throw new BodyProblem('too_large', `more than ${maxBytes} bytes arrive`)
    yield part
  }
}

async function* decode(source: AsyncGenerator<Buffer>, coding: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const first = await source.next()
  if (first.done) return
  const decoder = decoderFor(coding, first.value[0] ?? 0)
  const feed = Readable.from(withFirst(first.value, source), { objectMode: false })
  const stop = () => decoder.destroy(new Error('aborted'))
  signal.addEventListener('abort', stop, { once: true })
  feed.on('error', (error) => decoder.destroy(error))
  feed.pipe(decoder)
  try {
    for await (const part of decoder) yield part as Buffer
  } finally {
    signal.removeEventListener('abort', stop)
    feed.destroy()
    decoder.destroy()
  }
}

async function* withFirst(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* rest
}

function decoderFor(coding: string, firstByte: number): Transform {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip()
  if (coding === 'br') return createBrotliDecompress()
  // RFC 9110 means zlib; many servers send bare deflate. The low nibble of a zlib header is always 8.
  if (coding === 'deflate') return (firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw()
  throw new BodyProblem('encoding', `the content coding ${coding.slice(0, 32)} is not understood`)
}
