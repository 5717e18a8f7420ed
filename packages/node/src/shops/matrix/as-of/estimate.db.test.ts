import { silentLog } from '@assay/till/kernel/log'
import { openTestDatabase } from '@assay/till/store/testing'
import { expect, test } from 'vitest'
import { planDemo } from '../demo/plan.ts'
import { sampleNowMs } from '../demo/sample-files.fixture.ts'
import { ingestFile } from '../ingest/ingest-file.ts'
import { createSymbolTable } from '../store/symbol-table.ts'
import { createFileCache } from './file-cache.ts'
import { estimateRule } from './load-estimate.ts'
import { loadAsOfView } from './load-view.ts'

test('short interest since the settlement follows from the short volume beyond the usual, with bounds that hold it', async () => {
  const db = await openTestDatabase()
  try {
    const clock = { nowMs: () => sampleNowMs, monotonicMs: () => 0, sleep: async () => {} }
    const common = { database: db.database, clock, log: silentLog, symbols: createSymbolTable() }
    for (const planned of planDemo(sampleNowMs, { symbols: 60, tradingDays: 40 }))
      if (/short|directory/.test(planned.source))
        await ingestFile(common, { ...planned.make(), source: planned.source, synthetic: true })
    const fileCache = createFileCache()
    await fileCache.refresh(db.database)
    const view = await loadAsOfView({ sql: db.database, fileCache, symbols: common.symbols }, sampleNowMs)
    const values = (name: keyof typeof view.columns) => view.columns[name]?.values as Float64Array
    const [official, estimate] = [values('short_interest'), values('short_interest_estimate')]
    const known = [...estimate.keys()].filter((i) => !Number.isNaN(estimate[i] as number))
    expect(known.length).toBeGreaterThan(20)
    let moved = 0
    for (const i of known) {
      const [low, last, now, high] = [
        values('short_interest_low')[i],
        official[i],
        estimate[i],
        values('short_interest_high')[i],
      ] as number[]
      expect(low as number).toBeLessThanOrEqual(now as number)
      expect(high as number).toBeGreaterThanOrEqual(now as number)
      expect(Math.abs((now as number) / (last as number) - 1)).toBeLessThanOrEqual(estimateRule.kept + 1e-9)
      if (now !== last) moved += 1
    }
    expect(moved).toBeGreaterThan(known.length / 2)
    // Without the volumes there is the official figure and nothing else.
    const without = await loadAsOfView(
      { sql: db.database, fileCache, symbols: common.symbols },
      sampleNowMs,
      new Set(['finra-short-interest']),
    )
    expect([without.columns.short_interest !== undefined, without.columns.short_interest_estimate]).toEqual([
      true,
      undefined,
    ])
  } finally {
    await db.close()
  }
})
