import { createHash } from 'node:crypto'
import { silentLog } from '@assay/till/kernel/log'
import { openTestDatabase } from '@assay/till/store/testing'
import { parquetReadObjects } from 'hyparquet'
import { expect, test } from 'vitest'
import { createFileCache } from '../as-of/file-cache.ts'
import { planDemo } from '../demo/plan.ts'
import { sampleNowMs } from '../demo/sample-files.fixture.ts'
import { feedIds } from '../feeds/feed.ts'
import { ingestFile } from '../ingest/ingest-file.ts'
import { createLicencePolicy } from '../licences/licence-policy.ts'
import { scoreDays } from '../score-history/score-days.ts'
import { createSnapshotCache } from '../snapshots/snapshot-cache.ts'
import { createSymbolTable } from '../store/symbol-table.ts'
import { bulkEntries, makeBulkFile, recordBulkFiles } from './bulk-store.ts'
import { type BulkInputs, bulkInputs } from './make-table.ts'

test('months of feeds are files whose hashes the manifest has; a revision adds rows and makes another file', async () => {
  const db = await openTestDatabase()
  try {
    const clock = { nowMs: () => sampleNowMs, monotonicMs: () => 0, sleep: async () => {} }
    const fileCache = createFileCache()
    const licences = createLicencePolicy({ demo: true, assertions: [] })
    const common = { database: db.database, clock, log: silentLog, fileCache, symbols: createSymbolTable(), licences }
    const plan = planDemo(sampleNowMs, { symbols: 60, tradingDays: 22 })
    for (const planned of plan) await ingestFile(common, { ...planned.make(), source: planned.source, synthetic: true })
    await fileCache.refresh(db.database)
    const snapshotCache = createSnapshotCache({ ...common, delayMs: 0 })
    await scoreDays({ ...common, snapshotCache, stopping: new AbortController().signal }, 3)
    while ((await recordBulkFiles(common, feedIds, 4)) > 0);
    const file = async (feed: 'squeeze' | 'short-volume' | 'ftd', format: 'csv' | 'parquet') => {
      const [newest] = (await bulkEntries(db.database, feed)).filter((one) => one.format === format)
      if (!newest) throw new Error(`no file of ${feed}`)
      const inputs = (await bulkInputs(common, feed, newest.month)) as BulkInputs
      const { bytes } = await makeBulkFile(common, { feed, month: newest.month, format }, inputs)
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(newest.sha256)
      return { bytes, newest }
    }
    const scores = await file('squeeze', 'csv')
    const [header, first] = Buffer.from(scores.bytes).toString().split('\n')
    expect(header).toBe(
      'day,symbol,method,rank,score,strength,short_interest_to_shares,fails_mean_to_shares,price_vs_vwap,borrow_fee',
    )
    expect(first).toMatch(/^2026-11-\d\d,ZZ\w+,assay-squeeze-2,1,100,/)
    const parquet = await file('squeeze', 'parquet')
    const rows = await parquetReadObjects({ file: parquet.bytes.buffer as ArrayBuffer })
    expect(rows.length).toBe(scores.newest.rows)
    expect(rows[0]).toMatchObject({ rank: 1, score: 100 })
    // CUSIP numbers are used inside and never shown; holdings are kept by nothing else.
    expect(Buffer.from((await file('ftd', 'csv')).bytes).toString()).toMatch(
      /^symbol,as_of,available_at,source,revision,quantity,price\n/,
    )
    expect(await bulkEntries(db.database, 'institutional')).toEqual([])
    const before = await file('short-volume', 'csv')
    const last = plan
      .find(({ source, key }) => source === 'finra-short-volume' && key.includes(before.newest.month))
      ?.make()
    const text = Buffer.from(last?.bytes ?? []).toString('latin1')
    const corrected = text.replace(/\|(\d+)\|(\d+)\|(\d+)\|/, '|$1|0|$3|')
    expect(corrected).not.toBe(text)
    await ingestFile(common, {
      ...(last as { name: string; bytes: Buffer }),
      bytes: Buffer.from(corrected, 'latin1'),
      source: 'finra-short-volume',
      synthetic: true,
    })
    await fileCache.refresh(db.database)
    expect(await recordBulkFiles(common, feedIds, 10)).toBeGreaterThan(0)
    const after = await file('short-volume', 'csv')
    expect([after.newest.sha256 === before.newest.sha256, after.newest.rows > before.newest.rows]).toEqual([
      false,
      true,
    ])
    // Nothing of it may be sold without a licence.
    const unlicensed = { ...common, licences: createLicencePolicy({ demo: false, assertions: [] }) }
    expect(await bulkInputs(unlicensed, 'short-volume', after.newest.month)).toBeUndefined()
  } finally {
    await db.close()
  }
}, 120_000)
