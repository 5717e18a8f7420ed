import { silentLog } from '@assay/till/kernel/log'
import { openTestDatabase } from '@assay/till/store/testing'
import { expect, test } from 'vitest'
import { createFileCache } from '../as-of/file-cache.ts'
import { planDemo } from '../demo/plan.ts'
import { sampleNowMs } from '../demo/sample-files.fixture.ts'
import { createLicencePolicy, type Variant } from '../licences/licence-policy.ts'
import { readHistory } from '../routes/read-history.ts'
import { columnValues } from '../snapshots/columns-of.ts'
import { createSnapshotCache, isSnapshot } from '../snapshots/snapshot-cache.ts'
import { createSymbolTable } from '../store/symbol-table.ts'
import { coverageOf } from './coverage.ts'
import { ingestFile } from './ingest-file.ts'

const clock = { nowMs: () => sampleNowMs, monotonicMs: () => 0, sleep: async () => {} }
const column = (name: string, tier: 'live' | 'vip') => ({ name, unit: '%', tier })

async function openFields(licence: Variant | undefined) {
  const db = await openTestDatabase()
  const assertions = licence
    ? [
        {
          source: 'vendor-fields' as const,
          allows: licence,
          assertedBy: 'Jane Doe',
          assertedAt: '2026-01-01',
          reference: 'contract 1',
        },
      ]
    : []
  const [fileCache, symbols] = [createFileCache(), createSymbolTable()]
  const licences = createLicencePolicy({ demo: true, assertions })
  const deps = { database: db.database, sql: db.database, clock, log: silentLog, fileCache, symbols, licences }
  const cache = createSnapshotCache({ ...deps, delayMs: 0 })
  const at = async (feed: 'borrow' | 'squeeze', variant: Variant, atMs: number) => {
    await fileCache.refresh(db.database)
    return cache.at(feed, variant, atMs, undefined)
  }
  return {
    deps,
    close: () => db.close(),
    ingest: (name: string, text: string) => ingestFile(deps, { name, bytes: Buffer.from(text) }),
    snapshot: at,
    figures: async (variant: Variant, atMs: number) => {
      const found = await at('borrow', variant, atMs)
      if (!isSnapshot(found)) return found.status
      const [row] = found.rowsOf.get('GME') ?? []
      const figureOf = (name: string, tier: 'live' | 'vip') =>
        columnValues(found, column(name, tier)).values[row as number] as number
      return [figureOf('utilisation_pct', 'live'), figureOf('put_call_open_interest', 'vip')]
    },
    history: async (variant: Variant, knownAtMs: number) => {
      await fileCache.refresh(db.database)
      const query = { feed: 'squeeze' as const, symbol: 'GME', days: 60, knownAtMs, sinceDate: '2026-01-01' }
      const { series } = await readHistory(deps, query, variant)
      return (series as Record<string, Record<string, unknown>[]>)['vendor'] ?? []
    },
    coverage: async () => {
      await fileCache.refresh(db.database)
      return coverageOf({ fileCache, licences, plans: [], clock }).find(({ source }) => source === 'vendor-fields')
    },
  }
}

const lending = (day: string, published: string, utilisation: number) =>
  `ticker,date,published_at,utilisation_pct\nGME,${day},${published},${utilisation}\n`

test('figures of a licensed vendor are shown as they were known, with history, and never move the score', async () => {
  const shop = await openFields('paid')
  try {
    for (const planned of planDemo(sampleNowMs, { symbols: 30, tradingDays: 3 }))
      if (planned.source !== 'vendor-fields')
        await ingestFile(shop.deps, { ...planned.make(), source: planned.source, synthetic: true })
    const scored = await shop.snapshot('squeeze', 'paid', sampleNowMs)
    await shop.ingest('fields-20261110.csv', lending('2026-11-10', '2026-11-11T12:30:00Z', 60))
    await shop.ingest('fields-20261111.csv', lending('2026-11-11', '2026-11-12T12:30:00Z', 70))
    await shop.ingest('fields-b.csv', lending('2026-11-11', '2026-11-13T12:30:00Z', 71))
    await shop.ingest('fields-options.csv', 'ticker,date,put_call_open_interest\nGME,2026-11-11,1.4\n')
    const moment = (text: string) => Date.parse(`2026-11-${text}:00Z`)
    expect(await shop.figures('paid', moment('11T12:00'))).toBe('no_data')
    expect(await shop.figures('paid', moment('11T12:40'))).toEqual([60, Number.NaN])
    // Without a stamp a day counts from 8:00 ET of the next.
    expect(await shop.figures('paid', moment('12T13:00'))).toEqual([70, 1.4])
    expect(await shop.figures('paid', sampleNowMs)).toEqual([71, 1.4])
    const rows = await shop.history('paid', sampleNowMs)
    expect(rows.filter((row) => row['utilisation_pct'] !== null)).toMatchObject([
      { as_of: '2026-11-10', utilisation_pct: 60, revision: 1, licence: 'vendor-fields' },
      { as_of: '2026-11-11', utilisation_pct: 71, put_call_open_interest: 1.4, revision: 2 },
    ])
    expect((await shop.history('paid', moment('12T12:40'))).at(-1)).toMatchObject({ utilisation_pct: 70, revision: 1 })
    expect(await shop.coverage()).toMatchObject({ may_be_sold: true, last: '2026-11-11', fix: null })
    const after = await shop.snapshot('squeeze', 'paid', sampleNowMs)
    expect(isSnapshot(after) && isSnapshot(scored) && after.sha256 === scored.sha256).toBe(true)
  } finally {
    await shop.close()
  }
}, 60_000)

test('without a licence nothing of them is shown, free or paid, and the coverage says what is missing', async () => {
  const shop = await openFields(undefined)
  try {
    expect((await shop.coverage())?.fix).toBe(
      'set FIELDS_SOURCE and add a line for vendor-fields to LICENCES, or bring files with `assay ingest`',
    )
    await shop.ingest('fields-20261110.csv', lending('2026-11-10', '2026-11-11T12:30:00Z', 60))
    for (const variant of ['free', 'paid'] as const) {
      expect(await shop.figures(variant, sampleNowMs)).toBe('not_licensed')
      expect(await shop.history(variant, sampleNowMs)).toEqual([])
    }
    expect(await shop.coverage()).toMatchObject({
      may_be_shown: false,
      may_be_sold: false,
      fix: 'add a line for vendor-fields to LICENCES: what is held may not be shown without one',
    })
  } finally {
    await shop.close()
  }
}, 60_000)
