import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { expect, test } from 'vitest'
import { renderCsv } from './render.ts'
import { renderParquet } from './render-parquet.ts'
import { sampleSnapshot } from './snapshot.fixture.ts'

test('Parquet has the rows and columns of CSV, with types, unknown values as null and the facts in its metadata', async () => {
  const snapshot = sampleSnapshot('threshold', 'any', [
    { symbol: 'GME', values: { days_on_list: 3, entered: false }, vip: { fails: null } },
    { symbol: 'AMC', values: { days_on_list: 1.5, entered: true }, vip: { fails: 7 } },
  ])
  const page = { rows: [0, 1], nextCursor: 'next', unranked: {} }
  const head = { facts: { feed: 'threshold', sha256: snapshot.sha256 }, text: '' }
  const bytes = await renderParquet(snapshot, page, 'vip', head)
  const file = bytes.buffer as ArrayBuffer
  const rows = await parquetReadObjects({ file })
  expect(rows).toMatchObject([
    { rank: 1, symbol: 'GME', days_on_list: 3, entered: false, fails: null, days_on_list_source: 'x' },
    { rank: 2, symbol: 'AMC', days_on_list: 1.5, entered: true, fails: 7 },
  ])
  const header = renderCsv(snapshot, page, 'vip', head)
    .toString()
    .split('\n')
    .find((line) => !line.startsWith('#'))
  expect(Object.keys(rows[0] ?? {}).join()).toBe(header)
  expect(parquetMetadata(file).key_value_metadata).toEqual(
    expect.arrayContaining([
      { key: 'sha256', value: snapshot.sha256 },
      { key: 'next_cursor', value: 'next' },
    ]),
  )
})

test('a large download picks its rows from the whole, in their order, and equals the same rows taken alone', async () => {
  const snapshot = sampleSnapshot(
    'threshold',
    'any',
    Array.from({ length: 2_100 }, (_, i) => ({
      symbol: `S${i}`,
      values: { days_on_list: i, entered: i % 2 === 0 },
      vip: { fails: i % 3 === 0 ? null : i },
    })),
  )
  const head = { facts: { sha256: snapshot.sha256 }, text: '' }
  const read = async (rows: number[]) => {
    const bytes = await renderParquet(snapshot, { rows, nextCursor: null, unranked: {} }, 'vip', head)
    return parquetReadObjects({ file: bytes.buffer as ArrayBuffer })
  }
  const turned = Array.from({ length: 2_050 }, (_, i) => 2_099 - i)
  const large = await read(turned)
  expect(large.map(({ rank }) => Number(rank) - 1)).toEqual(turned)
  expect(large.slice(7, 107)).toEqual(await read(turned.slice(7, 107)))
})
