import { openTestDatabase } from '@assay/till/store/testing'
import { expect, test } from 'vitest'
import { createFileCache } from '../as-of/file-cache.ts'
import { planDemo } from '../demo/plan.ts'
import { sampleNowMs } from '../demo/sample-files.fixture.ts'
import { feedIds } from '../feeds/feed.ts'
import { ingestFile } from '../ingest/ingest-file.ts'
import { createSymbolTable } from '../store/symbol-table.ts'
import { qualityOf } from './quality-document.ts'

test('the demo is evaluated: rankings have figures beside the baselines, halts predict nothing, and what is measured says that it is synthetic', async () => {
  const db = await openTestDatabase()
  try {
    const clock = { nowMs: () => sampleNowMs, monotonicMs: () => 0, sleep: async () => {} }
    const deps = {
      database: db.database,
      sql: db.database,
      clock,
      symbols: createSymbolTable(),
      fileCache: createFileCache(),
    }
    for (const planned of planDemo(sampleNowMs, { symbols: 250, tradingDays: 62 }))
      await ingestFile(deps, { ...planned.make(), source: planned.source, synthetic: true })
    await deps.fileCache.refresh(db.database)
    let yields = 0
    const documents = await qualityOf(deps, feedIds, {
      daysMax: 3,
      yieldToEventLoop: async () => {
        yields += 1
      },
    })
    // Others are waiting for the thread: between two feeds of a day it is given free.
    expect(yields).toBeGreaterThan(20)
    for (const [feed, document] of documents) {
      if (feed === 'halts') expect(document).toMatchObject({ status: 'not_measured' })
      else if (feed === 'squeeze' || feed === 'short-interest' || feed === 'ftd')
        expect(document).toMatchObject({
          status: 'measured',
          synthetic: true,
          period: { days: 3 },
          result: { base_rate: expect.any(Number), lift_interval: { depth: 25 } },
          baselines: { short_interest: { observations: expect.any(Number) } },
        })
    }
  } finally {
    await db.close()
  }
})
