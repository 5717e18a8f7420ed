import { expect, test } from 'vitest'
import { fileSize, hashOf, lastYear } from './months.ts'

test('a year is the newest twelve files of one format', () => {
  const files = Array.from({ length: 14 }, (_, at) => {
    const month = `20${25 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, '0')}`
    return ['csv', 'parquet'].map((format) => ({ month, format }))
  }).flat()
  const year = lastYear(files, 'csv')
  expect([year.length, year[0], year.at(-1)]).toEqual([
    12,
    { month: '2026-02', format: 'csv' },
    { month: '2025-03', format: 'csv' },
  ])
})

test('sizes are read by people, hashes compared with the manifest', async () => {
  expect([fileSize(300), fileSize(45_600), fileSize(19_500_000)]).toEqual(['1 kB', '46 kB', '19.5 MB'])
  expect(await hashOf(new Uint8Array())).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
})
