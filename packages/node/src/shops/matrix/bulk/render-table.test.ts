import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { expect, test } from 'vitest'
import { renderTable } from './render-table.ts'

test('a Parquet month has dictionaries of texts and of repeated figures, plain figures and nothing compressed', async () => {
  const rows = 20_000
  const of = <T>(make: (row: number) => T) => Array.from({ length: rows }, (_, row) => make(row))
  const bytes = await renderTable(
    {
      rows,
      columns: [
        // More different texts than a sample of them shows.
        { name: 'symbol', kind: 'text', values: of((row) => `S${row % 12_000}`) },
        { name: 'market', kind: 'text', values: of((row) => (row === 1 ? null : 'Q')) },
        { name: 'revision', kind: 'number', values: of(() => 1) },
        { name: 'volume', kind: 'number', values: of((row) => (row === 3 ? Number.NaN : row / 4)) },
      ],
    },
    'parquet',
    async () => {},
  )
  const file = bytes.buffer as ArrayBuffer
  const chunks = parquetMetadata(file).row_groups.flatMap(({ columns }) => columns.map(({ meta_data }) => meta_data))
  expect([...new Set(chunks.map((chunk) => `${chunk?.path_in_schema} ${chunk?.encodings} ${chunk?.codec}`))]).toEqual([
    'symbol RLE_DICTIONARY UNCOMPRESSED',
    'market RLE_DICTIONARY UNCOMPRESSED',
    'revision RLE_DICTIONARY UNCOMPRESSED',
    'volume PLAIN UNCOMPRESSED',
  ])
  const read = await parquetReadObjects({ file })
  expect(read.length).toBe(rows)
  expect([read[1], read[3], read[rows - 1]]).toEqual([
    { symbol: 'S1', market: null, revision: 1, volume: 0.25 },
    { symbol: 'S3', market: 'Q', revision: 1, volume: null },
    { symbol: `S${(rows - 1) % 12_000}`, market: 'Q', revision: 1, volume: (rows - 1) / 4 },
  ])
})
