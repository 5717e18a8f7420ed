import { silentLog } from '@assay/till/kernel/log'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { beforeAll, expect, test } from 'vitest'
import { createFileCache, type FileCache } from '../as-of/file-cache.ts'
import { createDemoSecurities } from '../demo/demo-securities.ts'
import { planDemo } from '../demo/plan.ts'
import { sampleNowMs } from '../demo/sample-files.fixture.ts'
import { haltsFile, shortVolumeFile } from '../demo/write-files.ts'
import { feedIds } from '../feeds/feed.ts'
import { ingestFile } from '../ingest/ingest-file.ts'
import { createLicencePolicy } from '../licences/licence-policy.ts'
import type { LoadedRows } from '../store/load-rows.ts'
import { createSymbolTable } from '../store/symbol-table.ts'
import type { Snapshot } from './snapshot.ts'
import { createSnapshotCache, isSnapshot } from './snapshot-cache.ts'

const db = await useTestDatabase()
beforeAll(async () => {
  const deps = { ...openSnapshotCache(), database: db.database }
  for (const planned of planDemo(sampleNowMs, { symbols: 100, tradingDays: 12 }))
    await ingestFile(deps, { ...planned.make(), source: planned.source, synthetic: true })
  await deps.snapshotCache.refresh()
})

const hour = 3_600_000

/** Its own process: nothing in memory, and a count of the files it had to read. */
function openSnapshotCache(options: { demo?: boolean; nowMs?: number } = {}) {
  const clock = { nowMs: () => options.nowMs ?? sampleNowMs, monotonicMs: () => 0, sleep: async () => {} }
  const read: number[] = []
  const fileCache = createFileCache()
  const counting: FileCache = {
    ...fileCache,
    rows: async (sql, dataset, file): Promise<LoadedRows> => {
      read.push(file.id)
      return fileCache.rows(sql, dataset, file)
    },
  }
  const symbols = createSymbolTable()
  const licences = createLicencePolicy({ demo: options.demo ?? true, assertions: [] })
  const snapshotCache = createSnapshotCache({
    database: db.database,
    clock,
    log: silentLog,
    fileCache: counting,
    symbols,
    licences,
    delayMs: 65 * 60_000,
  })
  return { clock, symbols, fileCache: counting, snapshotCache, read }
}

const shown = (snapshotCache: ReturnType<typeof openSnapshotCache>['snapshotCache'], tier: 'live' | 'delayed') =>
  feedIds.map((feed) => snapshotCache.current(feed, tier) as Snapshot)

test('a second start serves what the first one made, to the byte, without reading a single row', async () => {
  const first = openSnapshotCache()
  await first.snapshotCache.refresh()
  const second = openSnapshotCache()
  await second.snapshotCache.refresh({ staleSnapshots: true })
  expect(second.read).toEqual([])
  for (const tier of ['live', 'delayed'] as const)
    for (const [index, snapshot] of shown(second.snapshotCache, tier).entries()) {
      const made = shown(first.snapshotCache, tier)[index] as Snapshot
      expect(isSnapshot(snapshot)).toBe(true)
      expect(snapshot.bytes.equals(made.bytes)).toBe(true)
      expect([...snapshot.starts]).toEqual([...made.starts])
      expect([...snapshot.liveEnds]).toEqual([...made.liveEnds])
      expect([...snapshot.values]).toEqual([...made.values])
      expect([...snapshot.rowsOf]).toEqual([...made.rowsOf])
      expect([...snapshot.excludedReason]).toEqual([...made.excludedReason])
      expect(snapshot.manifest).toEqual(made.manifest)
    }
})

test('with files that came in since, a start shows what it has, and the next refresh makes what is new and nothing else', async () => {
  const day = '2026-11-13'
  const writer = { ...openSnapshotCache(), database: db.database }
  await ingestFile(writer, { ...shortVolumeFile(createDemoSecurities(99), day), synthetic: true })
  const third = openSnapshotCache()
  await third.snapshotCache.refresh({ staleSnapshots: true })
  expect(third.read).toEqual([])
  const before = third.snapshotCache.current('short-volume', 'live') as Snapshot
  const fails = third.snapshotCache.current('ftd', 'live')
  await third.snapshotCache.refresh()
  expect(third.read.length).toBeGreaterThan(0)
  expect((third.snapshotCache.current('short-volume', 'live') as Snapshot).sha256).not.toBe(before.sha256)
  expect(third.snapshotCache.current('ftd', 'live')).toBe(fails)
})

test('a stand-in of the free tier is never younger than the delay', async () => {
  const now = openSnapshotCache()
  await now.snapshotCache.refresh()
  const newest = now.snapshotCache.current('halts', 'live') as Snapshot
  const earlyMs = Date.parse(newest.manifest.available_at) - hour
  const early = openSnapshotCache({ nowMs: earlyMs })
  await early.snapshotCache.refresh({ staleSnapshots: true })
  for (const snapshot of shown(early.snapshotCache, 'delayed').filter(isSnapshot))
    expect(Date.parse(snapshot.manifest.available_at)).toBeLessThanOrEqual(earlyMs - 65 * 60_000)
})

test('what was made under other rights is not taken', async () => {
  const production = openSnapshotCache({ demo: false })
  await production.snapshotCache.refresh({ staleSnapshots: true })
  for (const feed of feedIds)
    for (const tier of ['live', 'delayed'] as const)
      expect(isSnapshot(production.snapshotCache.current(feed, tier))).toBe(false)
})

test('symbols that only later files name leave the snapshots of the past as they were', async () => {
  const pastMs = Date.parse('2026-11-10T15:00:00Z')
  const before = openSnapshotCache()
  await before.snapshotCache.refresh()
  const deps = { ...openSnapshotCache(), database: db.database }
  await ingestFile(deps, { ...shortVolumeFile(createDemoSecurities(160).slice(101), '2026-11-12'), synthetic: true })
  const after = openSnapshotCache()
  await after.snapshotCache.refresh()
  const past = async ({ snapshotCache }: typeof after) =>
    Promise.all(
      feedIds.map(async (feed) => ((await snapshotCache.at(feed, 'paid', pastMs)) as Partial<Snapshot>).sha256),
    )
  const then = await past(before)
  expect(then.filter((sha256) => sha256 !== undefined).length).toBeGreaterThan(5)
  expect(await past(after)).toEqual(then)
})

test('kept bytes that no longer have their hash are made again', async () => {
  const first = openSnapshotCache()
  await first.snapshotCache.refresh()
  await db.owner.query(`update matrix_snapshot_bytes set bytes = (select bytes from matrix_snapshot_bytes
    order by length(bytes) desc limit 1)`)
  const second = openSnapshotCache()
  await second.snapshotCache.refresh()
  expect(second.read.length).toBeGreaterThan(0)
  for (const [index, snapshot] of shown(second.snapshotCache, 'live').entries())
    expect(snapshot.bytes.equals((shown(first.snapshotCache, 'live')[index] as Snapshot).bytes)).toBe(true)
})

test('the number of kept snapshots stays small, and no bytes are kept for nobody', async () => {
  const deps = { ...openSnapshotCache(), database: db.database }
  for (let minute = 0; minute < 12; minute += 1) {
    const file = haltsFile(createDemoSecurities(100).slice(minute), '2026-11-12')
    await ingestFile(deps, { ...file, synthetic: true, availableAtMs: sampleNowMs - 30 * 60_000 + minute * 60_000 })
    await deps.snapshotCache.refresh()
  }
  const { rows } = await db.database.query<{ feed: string; n: number }>(
    'select feed, count(*)::int as n from matrix_snapshot_kept group by feed',
  )
  for (const { n } of rows) expect(n).toBeLessThanOrEqual(8)
  const spare = await db.database.query(
    'select from matrix_snapshot_bytes b where not exists (select from matrix_snapshot_kept k where k.sha256 = b.sha256)',
  )
  expect(spare.rowCount).toBe(0)
})
