import { utf8 } from '@assay/protocol/bytes'
import { expect, test } from 'vitest'
import { lastTile, readEntries } from './read-log.ts'

const entryOf = (text: string) => {
  const bytes = utf8(text)
  return [bytes.length >> 8, bytes.length & 255, ...bytes]
}

test('the tile that ends a log is named with its width', () => {
  expect(lastTile(0)).toBeUndefined()
  expect(lastTile(3)).toEqual({ path: 'tile/entries/000.p/3', first: 0 })
  expect(lastTile(256)).toEqual({ path: 'tile/entries/000', first: 0 })
  expect(lastTile(256_257)).toEqual({ path: 'tile/entries/x001/001.p/1', first: 256_256 })
})

test('entries are read newest first, with their place and hash; one that is no JSON stays readable', () => {
  const bytes = new Uint8Array([...entryOf('{"id":"att_1"}'), ...entryOf('plain')])
  const entries = readEntries(bytes, 256)
  expect(entries.map(({ index, record, text }) => [index, record, text])).toEqual([
    [257, undefined, 'plain'],
    [256, { id: 'att_1' }, '{"id":"att_1"}'],
  ])
  expect(entries[0]?.hash).toMatch(/^[A-Za-z0-9+/]{43}=$/)
  expect(readEntries(bytes.subarray(0, 5), 0)).toHaveLength(1)
})
