import zlib, { inflateRawSync } from 'node:zlib'
import { refuse } from './refused.ts'

/** A zip archive read from memory, by its central directory, with caps before anything is inflated. */
export type ZipEntry = { name: string; bytes: Uint8Array }

export type UnzipLimits = { bytesMax: number; entriesMax?: number; ratioMax?: number }

export function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 0x03 && bytes[3] === 0x04
}

export function unzip(bytes: Uint8Array, limits: UnzipLimits, wanted?: (name: string) => boolean): ZipEntry[] {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const records = directoryOf(data, limits.entriesMax ?? 32)
  const chosen = records.filter((record) => !record.name.endsWith('/') && (wanted === undefined || wanted(record.name)))
  let left = limits.bytesMax
  return chosen.map((record) => {
    // Deflate cannot do better than 1032:1; real text stays far below the cap, bombs do not.
    if (record.size > left || record.size > record.packed * (limits.ratioMax ?? 100) + 65_536)
      refuse('bomb', `the archive would unpack to ${record.size} bytes`)
    left -= record.size
    return { name: record.name, bytes: inflate(data, record) }
  })
}

export function onlyEntry(bytes: Uint8Array, limits: UnzipLimits): Uint8Array {
  const entries = unzip(bytes, { ...limits, entriesMax: 4 })
  const [entry] = entries
  if (!entry || entries.length !== 1) return refuse('archive', `the archive has ${entries.length} files instead of one`)
  return entry.bytes
}

type DirectoryRecord = { name: string; method: number; crc: number; packed: number; size: number; offset: number }

function directoryOf(data: Buffer, entriesMax: number): DirectoryRecord[] {
  const end = findEnd(data)
  const count = data.readUInt16LE(end + 10)
  let at = data.readUInt32LE(end + 16)
  if (count === 0xffff || at === 0xffffffff) refuse('archive', 'zip64 archives are not read')
  if (count > entriesMax) refuse('bomb', `the archive has ${count} files`)
  const records: DirectoryRecord[] = []
  for (let i = 0; i < count; i += 1) {
    if (at + 46 > data.length || data.readUInt32LE(at) !== 0x02014b50) refuse('archive', 'the directory is damaged')
    const flags = data.readUInt16LE(at + 8)
    if ((flags & 1) !== 0) refuse('archive', 'the archive is encrypted')
    const nameLength = data.readUInt16LE(at + 28)
    records.push({
      name: data.toString('latin1', at + 46, at + 46 + nameLength),
      method: data.readUInt16LE(at + 10),
      crc: data.readUInt32LE(at + 16),
      packed: data.readUInt32LE(at + 20),
      size: data.readUInt32LE(at + 24),
      offset: data.readUInt32LE(at + 42),
    })
    at += 46 + nameLength + data.readUInt16LE(at + 30) + data.readUInt16LE(at + 32)
  }
  // Otherwise something is in between, such as a second archive: which of them is meant is not for us to guess.
  if (at !== end) refuse('archive', 'the directory does not end where the archive ends')
  refuseOverlaps(records)
  return records
}

/** Entries that share bytes are how one small file becomes petabytes. */
function refuseOverlaps(records: readonly DirectoryRecord[]): void {
  const sorted = [...records].sort((a, b) => a.offset - b.offset)
  for (const [index, record] of sorted.entries()) {
    const next = sorted[index + 1]
    if (next && record.offset + 30 + record.packed > next.offset) refuse('bomb', 'files of the archive overlap')
  }
}

function findEnd(data: Buffer): number {
  for (let at = data.length - 22; at >= Math.max(0, data.length - 65_557); at -= 1)
    if (data.readUInt32LE(at) === 0x06054b50) return at
  return refuse('archive', 'the archive is cut off: its directory is missing')
}

function inflate(data: Buffer, record: DirectoryRecord): Uint8Array {
  const head = record.offset
  if (head + 30 > data.length || data.readUInt32LE(head) !== 0x04034b50)
    refuse('archive', 'a file of the archive is missing')
  const start = head + 30 + data.readUInt16LE(head + 26) + data.readUInt16LE(head + 28)
  if (start + record.packed > data.length) refuse('archive', 'the archive is cut off')
  const packed = data.subarray(start, start + record.packed)
  const bytes = record.method === 0 ? packed : record.method === 8 ? inflated(packed, record.size) : undefined
  if (!bytes) return refuse('archive', `compression method ${record.method} is not known`)
  if (bytes.byteLength !== record.size || crc32(bytes) !== record.crc)
    refuse('archive', 'a file of the archive is damaged')
  return bytes
}

function inflated(packed: Uint8Array, size: number): Uint8Array {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, size) })
  } catch {
    return refuse('archive', 'a file of the archive cannot be unpacked')
  }
}

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value >>> 0
})

// Absent before Node 20.15: the table does the same, more slowly.
const native = (zlib as { crc32?: (data: Uint8Array) => number }).crc32

export function crc32(bytes: Uint8Array): number {
  if (native) return native(bytes)
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 255] as number)
  return (crc ^ 0xffffffff) >>> 0
}
