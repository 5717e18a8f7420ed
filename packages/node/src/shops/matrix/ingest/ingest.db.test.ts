import { silentLog } from '@assay/till/kernel/log'
import { openTestDatabase } from '@assay/till/store/testing'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { createFileCache } from '../as-of/file-cache.ts'
import { loadAsOfView } from '../as-of/load-view.ts'
import { createDemoSecurities } from '../demo/demo-securities.ts'
import { planDemo } from '../demo/plan.ts'
import { sampleFiles, sampleNowMs } from '../demo/sample-files.fixture.ts'
import { borrowFile, shortVolumeFile } from '../demo/write-files.ts'
import { feedIds } from '../feeds/feed.ts'
import { createLicencePolicy } from '../licences/licence-policy.ts'
import { evaluate } from '../quality/evaluate.ts'
import { LookAhead, refuseLookAhead } from '../quality/outcomes.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { createSnapshotCache, isSnapshot } from '../snapshots/snapshot-cache.ts'
import { readRaw } from '../store/raw-bytes.ts'
import { createSymbolTable } from '../store/symbol-table.ts'
import { ingestFile } from './ingest-file.ts'

const db = await useTestDatabase()

const clockAt = (nowMs: number) => ({ nowMs: () => nowMs, monotonicMs: () => 0, sleep: async () => {} })

function openDeps(database = db.database, nowMs = sampleNowMs) {
  const clock = clockAt(nowMs)
  const symbols = createSymbolTable()
  const fileCache = createFileCache()
  const licences = createLicencePolicy({ demo: true, assertions: [] })
  const snapshotCache = createSnapshotCache({
    database,
    clock,
    log: silentLog,
    fileCache,
    symbols,
    licences,
    delayMs: 65 * 60_000,
  })
  return { database, clock, symbols, fileCache, licences, snapshotCache, sql: database }
}

const count = async (table: string) =>
  (await db.database.query<{ n: number }>(`select count(*)::int as n from ${table}`)).rows[0]?.n

test('every format is stored, the same bytes are stored once, and raw bytes come back', async () => {
  const deps = openDeps()
  for (const { file } of sampleFiles) {
    const first = await ingestFile(deps, file)
    expect(first.status).toBe('stored')
    expect(await ingestFile(deps, file)).toMatchObject({ status: 'unchanged' })
  }
  const { rows } = await db.database.query<{ sha256: Buffer; name: string }>('select sha256, name from matrix_file')
  for (const row of rows) {
    const sample = sampleFiles.find(({ file }) => file.name === row.name)
    expect((await readRaw(db.database, row.sha256))?.equals(sample?.file.bytes as Buffer)).toBe(true)
  }
})

test('a corrected file is a revision; both stay, and each moment sees the one known then', async () => {
  const other = await openTestDatabase()
  try {
    const deps = openDeps(other.database)
    const file = shortVolumeFile(createDemoSecurities(40), '2026-11-10')
    const corrected = Buffer.from(file.bytes.toString('latin1').replace(/\|(\d+)\|B,Q,N/, '|99999999|B,Q,N'), 'latin1')
    const firstAt = Date.parse('2026-11-10T23:00:00Z')
    const laterAt = Date.parse('2026-11-12T15:00:00Z')
    expect(await ingestFile(deps, { ...file, availableAtMs: firstAt })).toMatchObject({ revision: 1 })
    expect(await ingestFile(deps, { ...file, bytes: corrected, availableAtMs: laterAt })).toMatchObject({ revision: 2 })
    await deps.fileCache.refresh(other.database)
    const before = await loadAsOfView(deps, laterAt - 1)
    const after = await loadAsOfView(deps, laterAt)
    const at = after.symbols.findIndex((_, i) => after.columns.total_volume?.values[i] === 99_999_999)
    expect(at).toBeGreaterThanOrEqual(0)
    expect(before.columns.total_volume?.values[at]).not.toBe(99_999_999)
    await expect(other.database.query('update matrix_short_volume set total_volume = 0')).rejects.toThrow()
    await expect(other.owner.query('delete from matrix_file')).rejects.toThrow('never changed')
  } finally {
    await other.close()
  }
})

test('a correction without a stamp is known from when it was seen, never dated back', async () => {
  const deps = openDeps()
  const file = shortVolumeFile(createDemoSecurities(30), '2026-11-06')
  await ingestFile(deps, file)
  const corrected = Buffer.from(file.bytes.toString('latin1').replace(/\|(\d+)\|B,Q,N/, '|88888888|B,Q,N'), 'latin1')
  await ingestFile(deps, { ...file, bytes: corrected })
  const { rows } = await db.database.query<{ available_at: Date; available_basis: string }>(
    `select available_at, available_basis from matrix_file where period = '2026-11-06' order by revision`,
  )
  expect(rows).toEqual([
    { available_at: new Date('2026-11-06T23:00:00Z'), available_basis: 'schedule' },
    { available_at: new Date(sampleNowMs), available_basis: 'observed' },
  ])
})

test('a refused file is kept aside with its reason and changes nothing', async () => {
  const deps = openDeps()
  await deps.snapshotCache.refresh()
  const before = deps.snapshotCache.current('short-volume', 'live')
  const files = await count('matrix_file')
  const good = shortVolumeFile(createDemoSecurities(30), '2026-11-11').bytes.toString('latin1')
  const bad: [string, Buffer][] = [
    ['count', Buffer.from(good.replace(/30\r\n$/, '31\r\n'))],
    ['html', Buffer.from('<html><body>oops</body></html>')],
    ['future_date', shortVolumeFile(createDemoSecurities(30), '2027-03-01').bytes],
    ['too_large', Buffer.alloc(9 * 1024 * 1024, 65)],
    ['unknown_format', Buffer.from('what is this')],
  ]
  for (const [code, bytes] of bad) {
    const name =
      code === 'unknown_format' ? 'x.bin' : code === 'future_date' ? 'CNMSshvol20270301.txt' : 'CNMSshvol20261111.txt'
    expect(await ingestFile(deps, { name, bytes })).toMatchObject({ status: 'refused', code })
  }
  expect(await count('matrix_file')).toBe(files)
  expect(await count('matrix_refusal')).toBe(bad.length)
  await deps.snapshotCache.refresh()
  expect((deps.snapshotCache.current('short-volume', 'live') as Snapshot).sha256).toBe((before as Snapshot).sha256)
})

test('later borrow files of a day are stored as changes, and read back whole', async () => {
  const other = await openTestDatabase()
  try {
    const deps = openDeps(other.database)
    const securities = createDemoSecurities(200)
    await ingestFile(deps, borrowFile(securities, '2026-11-12', '09:15:00'))
    const noon = borrowFile(securities.slice(0, 199), '2026-11-12', '13:15:00')
    const outcome = await ingestFile(deps, noon)
    expect(outcome).toMatchObject({ status: 'stored' })
    expect((outcome as { rows: number }).rows).toBeLessThan(60)
    await deps.fileCache.refresh(other.database)
    const read = await loadAsOfView(deps, sampleNowMs)
    const fee = (symbol: string) => read.columns.borrow_fee_pct?.values[read.indexOf.get(symbol) as number]
    expect(fee(securities[0]?.symbol as string)).toBeGreaterThan(0)
    expect(fee(securities[199]?.symbol as string)).toBeNaN()
  } finally {
    await other.close()
  }
})

test('snapshots are made again byte for byte from the raw files, in another database and another order', async () => {
  const [one, two] = await Promise.all([openTestDatabase(), openTestDatabase()])
  try {
    const first = openDeps(one.database)
    for (const planned of planDemo(sampleNowMs, { symbols: 200, tradingDays: 14 }))
      await ingestFile(first, { ...planned.make(), source: planned.source, synthetic: true })
    await first.snapshotCache.refresh()
    const files = await one.database.query<{ sha256: Buffer; name: string; available_at: Date; source: never }>(
      'select sha256, name, available_at, source from matrix_file order by source, period',
    )
    const second = openDeps(two.database)
    const raw = await Promise.all(files.rows.map((row) => readRaw(one.database, row.sha256)))
    const borrowFirst = files.rows.map((_, index) => index).sort((a, b) => b - a)
    // Changes of the borrow file build on the ones before it, so those keep their order.
    borrowFirst.sort(
      (a, b) =>
        Number(files.rows[b]?.source === 'ibkr-borrow') - Number(files.rows[a]?.source === 'ibkr-borrow') ||
        (files.rows[a]?.source === 'ibkr-borrow' ? a - b : 0),
    )
    for (const index of borrowFirst) {
      const row = files.rows[index] as (typeof files.rows)[number]
      const { name, source } = row
      await ingestFile(second, {
        name,
        source,
        bytes: raw[index] as Buffer,
        synthetic: true,
        availableAtMs: row.available_at.getTime(),
      })
    }
    await second.snapshotCache.refresh()
    for (const feed of feedIds)
      for (const tier of ['live', 'delayed'] as const) {
        const made = first.snapshotCache.current(feed, tier)
        const again = second.snapshotCache.current(feed, tier)
        expect(isSnapshot(made) && isSnapshot(again)).toBe(true)
        expect((again as Snapshot).sha256).toBe((made as Snapshot).sha256)
        expect((again as Snapshot).bytes.equals((made as Snapshot).bytes)).toBe(true)
      }
    const past = Date.parse('2026-11-06T15:00:00Z')
    expect(await second.snapshotCache.at('squeeze', 'paid', past)).toMatchObject({
      sha256: ((await first.snapshotCache.at('squeeze', 'paid', past)) as Snapshot).sha256,
    })
  } finally {
    await Promise.all([one.close(), two.close()])
  }
})

test('an evaluation that could see the future is refused', async () => {
  const deps = openDeps()
  await deps.fileCache.refresh(db.database)
  const view = await loadAsOfView(deps, sampleNowMs)
  expect(() => refuseLookAhead(view, sampleNowMs - 400 * 86_400_000)).toThrow(LookAhead)
  expect(() => refuseLookAhead(view, sampleNowMs + 1)).not.toThrow()
  const found = await evaluate(
    { ...deps, yieldToEventLoop: async () => {} },
    [{ feed: 'squeeze', universe: 'shares' }],
    3,
  )
  expect(found.get('squeeze')?.days).toEqual([])
})
