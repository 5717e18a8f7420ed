import { basename } from 'node:path'
import { gunzipWithin, isGzip } from '../reading/gunzip.ts'
import { FileRefused, type RefusalCode, refuse } from '../reading/refused.ts'
import { recogniseSource, sourceOf } from '../sources/catalogue.ts'
import type { ParsedFile, Source, SourceId } from '../sources/source.ts'

export type FileToRead = {
  name: string
  bytes: Uint8Array
  /** Default: recognised by name and content. */
  source?: SourceId
}

/** Data only, so that it can come from another thread. */
export type FileRead =
  | { status: 'read'; source: SourceId; name: string; bytes: Uint8Array; parsed: ParsedFile }
  | { status: 'refused'; source: SourceId | undefined; code: RefusalCode; detail: string }

/** From bytes to checked rows, without any other effect; some tenths of a second for a large file. */
export function readMarketFile(file: FileToRead, nowMs: number): FileRead {
  let source: Source | undefined
  try {
    const { name, bytes } = unpacked(file)
    source = file.source === undefined ? recogniseSource(name, bytes) : sourceOf(file.source)
    if (bytes.byteLength > source.bytesMax)
      refuse('too_large', `${bytes.byteLength} bytes; files of this source have at most ${source.bytesMax}`)
    return { status: 'read', source: source.id, name, bytes, parsed: source.parse({ name, bytes, nowMs }) }
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error
    return { status: 'refused', source: source?.id, code: error.code, detail: error.message }
  }
}

const gzippedBytesMax = 256 * 1024 * 1024

function unpacked(file: FileToRead): { name: string; bytes: Uint8Array } {
  const name = basename(file.name).slice(0, 200)
  if (!isGzip(file.bytes)) return { name, bytes: file.bytes }
  return { name: name.replace(/\.gz$/, ''), bytes: gunzipWithin(file.bytes, gzippedBytesMax) }
}
