import { deflateRawSync } from 'node:zlib'
import { crc32 } from '../reading/unzip.ts'

/** A zip archive of text files, as the SEC publishes them. */
export function zipFile(entries: readonly { name: string; text: string }[]): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, text } of entries) {
    const bytes = Buffer.from(text, 'latin1')
    const packed = deflateRawSync(bytes, { level: 1 })
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(8, 4)
    fields.writeUInt32LE(crc32(bytes), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(bytes.length, 18)
    fields.writeUInt16LE(name.length, 22)
    bodies.push(Buffer.from([0x50, 0x4b, 3, 4]), fields, Buffer.from(name, 'latin1'), packed)
    const record = Buffer.alloc(46)
    record.writeUInt32LE(0x02014b50, 0)
    record.writeUInt16LE(20, 4)
    fields.copy(record, 6, 0, 24)
    record.writeUInt16LE(name.length, 28)
    record.writeUInt32LE(offset, 42)
    directory.push(record, Buffer.from(name, 'latin1'))
    offset += 30 + name.length + packed.length
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, ...directory, end])
}
