import { silentLog } from '@assay/till/kernel/log'
import { openTestDatabase } from '@assay/till/store/testing'
import { expect, test } from 'vitest'
import { createFileCache } from '../as-of/file-cache.ts'
import { planDemo } from '../demo/plan.ts'
import { sampleNowMs } from '../demo/sample-files.fixture.ts'
import { ingestFile } from '../ingest/ingest-file.ts'
import { createLicencePolicy } from '../licences/licence-policy.ts'
import { createSnapshotCache, isSnapshot } from '../snapshots/snapshot-cache.ts'
import { createSymbolTable } from '../store/symbol-table.ts'
import { lastScoredDay, scoreDays } from './score-days.ts'
import { readScores } from './score-store.ts'

test('each day has the score known before its open, with rank and factors; what is held is not made again, what changed is', async () => {
  const db = await openTestDatabase()
  try {
    const clock = { nowMs: () => sampleNowMs, monotonicMs: () => 0, sleep: async () => {} }
    const common = {
      database: db.database,
      clock,
      log: silentLog,
      fileCache: createFileCache(),
      symbols: createSymbolTable(),
      licences: createLicencePolicy({ demo: true, assertions: [] }),
    }
    const plan = planDemo(sampleNowMs, { symbols: 100, tradingDays: 22 })
    for (const planned of plan) await ingestFile(common, { ...planned.make(), source: planned.source, synthetic: true })
    const snapshotCache = createSnapshotCache({ ...common, delayMs: 0 })
    const deps = { ...common, snapshotCache, stopping: new AbortController().signal }
    const made = await scoreDays(deps, 4)
    expect(made).toBeGreaterThan(6)
    expect(await scoreDays(deps, 4)).toBe(0)
    const reading = createSnapshotCache({ ...common, delayMs: 0 })
    const snapshot = await reading.at('squeeze', 'paid', Date.parse('2026-11-13T14:29:59.999Z'))
    if (!isSnapshot(snapshot)) throw new Error('no snapshot')
    expect(snapshotCache.recent(snapshot.sha256), 'what was ranked is held by nobody').toBeUndefined()
    const [symbol] = [...snapshot.rowsOf.keys()] as [string]
    const names = [{ symbol, after: '0000-01-01', before: '9999-12-31' }]
    const query = { feed: 'squeeze', names, since: '2026-01-01' } as const
    const points = await readScores(db.database, { ...query, until: '2026-11-13' })
    expect(points.map(({ day }) => day)).toEqual(['2026-11-10', '2026-11-11', '2026-11-12', '2026-11-13'])
    expect(points.at(-1)).toMatchObject({ day: '2026-11-13', method: 'assay-squeeze-2', rank: 1, score: 100 })
    expect(Object.keys(points.at(-1)?.factors ?? {})).toEqual([
      'short_interest_to_shares',
      'fails_mean_to_shares',
      'price_vs_vwap',
      'borrow_fee',
    ])
    const earlier = await readScores(db.database, {
      ...query,
      until: lastScoredDay(Date.parse('2026-11-13T12:00:00Z')),
    })
    expect(earlier).toEqual(points.slice(0, -1))
    // Another file that was public by then: the days it touches are made again, and each shows once.
    const prices = plan.find(({ source, key }) => source === 'prices' && key.endsWith('2026-11-12'))?.make()
    const text = prices?.bytes.toString('latin1').replaceAll(/,(\d+)\n/g, ',9$1\n') ?? ''
    await ingestFile(common, {
      name: 'prices-20261112.csv',
      bytes: Buffer.from(text),
      source: 'prices',
      synthetic: true,
    })
    expect(await scoreDays(deps, 4)).toBe(3)
    const again = await readScores(db.database, { ...query, until: '2026-11-13' })
    expect(again.map(({ day }) => day)).toEqual(points.map(({ day }) => day))
    expect(again.slice(0, -1)).toEqual(points.slice(0, -1))
    expect(again.at(-1)?.factors['price_vs_vwap']).not.toBe(points.at(-1)?.factors['price_vs_vwap'])
  } finally {
    await db.close()
  }
})
