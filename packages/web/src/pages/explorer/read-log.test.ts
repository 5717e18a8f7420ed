import { utf8 } from '@assay/protocol/bytes'
import { expect, test } from 'vitest'
import { attestationId, lastTiles, readEntries } from './read-log.ts'

const entryOf = (text: string) => {
  const bytes = utf8(text)
  return [bytes.length >> 8, bytes.length & 255, ...bytes]
}

test('the tiles that end a log are named with their widths', () => {
  expect(lastTiles(0, 2)).toEqual([])
  expect(lastTiles(3, 2)).toEqual([{ path: 'tile/entries/000.p/3', first: 0 }])
  expect(lastTiles(256, 2)).toEqual([{ path: 'tile/entries/000', first: 0 }])
  expect(lastTiles(256_257, 2)).toEqual([
    { path: 'tile/entries/x001/001.p/1', first: 256_256 },
    { path: 'tile/entries/x001/000', first: 256_000 },
  ])
})

test('only citations and claims have a page', () => {
  const ids = ['att_1', 'clm_2', '0-1279', undefined].map((id) => attestationId({ record: { id } }))
  expect(ids).toEqual(['att_1', 'clm_2', undefined, undefined])
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
