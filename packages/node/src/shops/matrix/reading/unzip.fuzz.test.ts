import { deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { zipFile } from '../demo/zip-file.ts'
import { gunzipWithin } from './gunzip.ts'
import { FileRefused } from './refused.ts'
import { crc32, unzip } from './unzip.ts'

const limits = { bytesMax: 1_000_000 }

test('what was packed comes out again', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary-ascii', maxLength: 200 }), { minLength: 1, maxLength: 4 }),
      (texts) => {
        const entries = texts.map((text, index) => ({ name: `f${index}.txt`, text }))
        expect(unzip(zipFile(entries), limits).map(({ bytes }) => Buffer.from(bytes).toString('latin1'))).toEqual(texts)
      },
    ),
  )
})

test('damaged archives are refused and never crash', () => {
  const whole = zipFile([{ name: 'a.txt', text: 'hello '.repeat(50) }])
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length), (at, value, length) => {
      const bytes = Buffer.from(whole.subarray(0, length || 1))
      if (at < bytes.length) bytes[at] = value
      try {
        unzip(bytes, limits)
      } catch (error) {
        expect(error).toBeInstanceOf(FileRefused)
      }
    }),
    { numRuns: 300 },
  )
})

test('a bomb is refused by its announced size, and by its real size when it lies', () => {
  const huge = 'a'.repeat(8_000_000)
  expect(() => unzip(zipFile([{ name: 'bomb', text: huge }]), limits)).toThrow(FileRefused)
  const lying = zipFile([{ name: 'bomb', text: huge }])
  // The announced size, in the entry and in the directory, says 100 bytes.
  const packed = deflateRawSync(Buffer.from(huge, 'latin1'), { level: 4 }).length
  lying.writeUInt32LE(100, 22)
  lying.writeUInt32LE(100, 30 + 4 + packed + 24)
  expect(() => unzip(lying, limits)).toThrow(FileRefused)
  expect(crc32(Buffer.from('123456789'))).toBe(0xcbf43926)
})

test('files that overlap inside an archive are refused', () => {
  const archive = zipFile([
    { name: 'a', text: 'x'.repeat(100) },
    { name: 'b', text: 'y'.repeat(100) },
  ])
  const directory = archive.indexOf(Buffer.from([0x50, 0x4b, 1, 2]))
  const second = archive.indexOf(Buffer.from([0x50, 0x4b, 1, 2]), directory + 4)
  archive.writeUInt32LE(0, second + 42)
  expect(() => unzip(archive, limits)).toThrow(FileRefused)
})

test('a gzip file that is cut off anywhere is refused', async () => {
  const { gzipSync } = await import('node:zlib')
  const whole = gzipSync(Buffer.from('Date|Symbol|ShortVolume\n'.repeat(200)))
  fc.assert(
    fc.property(fc.integer({ min: 2, max: whole.length - 1 }), (length) => {
      expect(() => gunzipWithin(whole.subarray(0, length), 1_000_000)).toThrow(FileRefused)
    }),
  )
})

test('a gzip bomb stops at the cap', async () => {
  const { gzipSync } = await import('node:zlib')
  expect(() => gunzipWithin(gzipSync(Buffer.alloc(5_000_000)), 1_000_000)).toThrow('more than')
  expect(() => gunzipWithin(Buffer.from([0x1f, 0x8b, 8, 0, 1]), 1_000)).toThrow(FileRefused)
})
