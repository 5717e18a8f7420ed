import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { brotliDecompressSync, createGunzip, gunzipSync, inflateSync } from 'node:zlib'

/** One HTTP answer of an archive. */
export type ArchivedAnswer = {
  url: string
  fetchedAt: Date
  httpStatus: number
  headers: ReadonlyMap<string, string>
  bytes: Uint8Array
}

export type WarcLimits = { recordBytesMax: number }

const headBytesMax = 64 * 1024

/**
 * The HTTP answers of a WARC file (ISO 28500, versions 1.0 and 1.1, plain or with each record compressed), one after the
 * other. A record that is larger than the limit, or not an HTTP answer, is passed over; a broken file ends with an error.
 */
export async function* readWarc(path: string, limits: WarcLimits): AsyncGenerator<ArchivedAnswer> {
  const reader = createByteReader(await openStream(path))
  for (;;) {
    const head = await reader.until('\r\n\r\n', headBytesMax)
    if (head === undefined) return
    const [version = '', ...lines] = head
      .toString('utf8')
      .replace(/^[\r\n]+/, '')
      .split('\r\n')
    if (!/^WARC\/1\.[01]$/.test(version)) throw new RangeError(`this is not a WARC record: ${version.slice(0, 40)}`)
    const fields = fieldsOf(lines)
    const length = Number(fields.get('content-length'))
    if (!Number.isSafeInteger(length) || length < 0) throw new RangeError('a record does not say how long it is')
    const wanted = fields.get('warc-type') === 'response' && length <= limits.recordBytesMax + headBytesMax
    const block = wanted ? await reader.take(length) : await reader.skip(length)
    const answer = block && answerOf(fields, block, limits)
    if (answer) yield answer
  }
}

async function openStream(path: string): Promise<AsyncIterable<Buffer>> {
  const file = await open(path)
  const { buffer: first } = await file.read(Buffer.alloc(2), 0, 2, 0)
  await file.close()
  const raw = createReadStream(path)
  if (first[0] !== 0x1f || first[1] !== 0x8b) return raw
  const unpacked = createGunzip()
  pipeline(raw, unpacked, () => {})
  return unpacked
}

type ByteReader = {
  /** The bytes before the mark, which is passed over; undefined at the end of the file. */
  until(mark: string, most: number): Promise<Buffer | undefined>
  take(length: number): Promise<Buffer>
  skip(length: number): Promise<undefined>
}

function createByteReader(stream: AsyncIterable<Buffer>): ByteReader {
  const chunks = stream[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  const more = async (): Promise<boolean> => {
    const { done, value } = await chunks.next()
    if (done) return false
    held = held.length === 0 ? value : Buffer.concat([held, value])
    return true
  }
  const cut = (length: number): Buffer => {
    const piece = held.subarray(0, length)
    held = held.subarray(length)
    return piece
  }
  return {
    until: async (mark, most) => {
      for (;;) {
        // Records are divided by empty lines.
        let start = 0
        while (held[start] === 0x0d || held[start] === 0x0a) start += 1
        if (start > 0) cut(start)
        const at = held.indexOf(mark)
        if (at >= 0) {
          const found = cut(at)
          cut(mark.length)
          return found
        }
        if (held.length > most) throw new RangeError('a record has no end of its head')
        if (!(await more())) {
          if (held.length > 0) throw new RangeError('the file ends inside of a record')
          return undefined
        }
      }
    },
    take: async (length) => {
      const pieces: Buffer[] = []
      for (let left = length; left > 0; ) {
        if (held.length === 0 && !(await more())) throw new RangeError('the file ends inside of a record')
        const piece = cut(Math.min(left, held.length))
        pieces.push(piece)
        left -= piece.length
      }
      return Buffer.concat(pieces)
    },
    skip: async (length) => {
      for (let left = length; left > 0; ) {
        if (held.length === 0 && !(await more())) throw new RangeError('the file ends inside of a record')
        left -= cut(Math.min(left, held.length)).length
      }
      return undefined
    },
  }
}

function fieldsOf(lines: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const name = line.slice(0, colon).trim().toLowerCase()
    const value = line.slice(colon + 1).trim()
    fields.set(name, fields.has(name) ? `${fields.get(name)}, ${value}` : value)
  }
  return fields
}

function answerOf(fields: ReadonlyMap<string, string>, block: Buffer, limits: WarcLimits): ArchivedAnswer | undefined {
  const url = (fields.get('warc-target-uri') ?? '').replace(/^<|>$/g, '')
  const fetchedAt = new Date(fields.get('warc-date') ?? '')
  const end = block.indexOf('\r\n\r\n')
  if (end < 0 || !/^https?:\/\//i.test(url) || !URL.canParse(url) || Number.isNaN(fetchedAt.getTime())) return undefined
  const [statusLine = '', ...lines] = block.subarray(0, end).toString('latin1').split('\r\n')
  const [, status] = /^HTTP\/\d(?:\.\d)? (\d{3})/.exec(statusLine) ?? []
  if (status === undefined) return undefined
  const headers = fieldsOf(lines)
  const bytes = decodedBody(block.subarray(end + 4), headers, limits)
  return bytes && { url, fetchedAt, httpStatus: Number(status), headers, bytes }
}

/** Some archives keep the bytes as they travelled, others decode them and leave the header: what cannot be decoded is taken as it is. */
function decodedBody(body: Buffer, headers: ReadonlyMap<string, string>, limits: WarcLimits): Uint8Array | undefined {
  const plain = /chunked/i.test(headers.get('transfer-encoding') ?? '') ? (joinChunks(body) ?? body) : body
  const coding = (headers.get('content-encoding') ?? '').toLowerCase()
  const options = { maxOutputLength: limits.recordBytesMax }
  try {
    if (coding === 'gzip' || coding === 'x-gzip') return gunzipSync(plain, options)
    if (coding === 'br') return brotliDecompressSync(plain, options)
    if (coding === 'deflate') return inflateSync(plain, options)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? undefined : plain
  }
  return plain.length <= limits.recordBytesMax ? plain : undefined
}

function joinChunks(body: Buffer): Buffer | undefined {
  const pieces: Buffer[] = []
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at)
    const size = end < 0 ? Number.NaN : Number.parseInt(body.subarray(at, end).toString('latin1'), 16)
    if (!Number.isInteger(size) || end + 2 + size > body.length) return undefined
    if (size === 0) return Buffer.concat(pieces)
    pieces.push(body.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
}
