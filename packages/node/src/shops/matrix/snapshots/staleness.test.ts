import { expect, test } from 'vitest'
import type { FileCache } from '../as-of/file-cache.ts'
import { sampleNowMs } from '../demo/sample-files.fixture.ts'
import { feeds } from '../feeds/catalogue.ts'
import type { FileRecord } from '../store/files.ts'
import { nextExpectedMs, sourceState } from './staleness.ts'

test('the next borrow file is expected within a quarter of an hour, the next fails within a month', () => {
  const inMinutes = (feed: 'borrow' | 'ftd') => ((nextExpectedMs(feeds[feed], sampleNowMs) ?? 0) - sampleNowMs) / 60_000
  expect(inMinutes('borrow')).toBeGreaterThan(0)
  expect(inMinutes('borrow')).toBeLessThanOrEqual(15)
  expect(inMinutes('ftd')).toBeLessThan(31 * 1_440)
})

test('what is remembered of a schedule is what it says at every moment', () => {
  const times = Array.from({ length: 40 }, (_, n) => sampleNowMs + n * 410 * 60_000)
  for (const feed of Object.values(feeds)) {
    // Back in time nothing that is remembered holds.
    const afresh = times.toReversed().map((ms) => nextExpectedMs(feed, ms))
    expect(times.map((ms) => nextExpectedMs(feed, ms))).toEqual(afresh.reverse())
  }
})

test('generated cover pages of the last quarter are not late', () => {
  const madeMs = sampleNowMs - 20 * 86_400_000
  const file = { synthetic: true, availableAtMs: madeMs, ingestedAtMs: madeMs, period: 'CY2026Q3I' } as FileRecord
  const fileCache = { known: () => [file] } as unknown as FileCache
  expect(sourceState(fileCache, 'sec-shares', sampleNowMs).stale).toBe(false)
  expect(sourceState(fileCache, 'prices', sampleNowMs).stale).toBe(true)
})
