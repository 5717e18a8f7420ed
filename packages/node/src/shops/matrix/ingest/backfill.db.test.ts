import { createHash } from 'node:crypto'
import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createFileCache } from '../as-of/file-cache.ts'
import { toBasic } from '../calendar/dates.ts'
import { createDemoSecurities } from '../demo/demo-securities.ts'
import { failsFile, shortVolumeFile } from '../demo/write-files.ts'
import { createLicencePolicy } from '../licences/licence-policy.ts'
import { parseMatrixSettings } from '../settings.ts'
import { polygonDay } from '../sources/prices/sample-days.fixture.ts'
import { createSymbolTable } from '../store/symbol-table.ts'
import { type BackfillReport, backfill } from './backfill.ts'
import { coverageOf } from './coverage.ts'
import { fetchDue } from './fetch-due.ts'
import { fetchPlans, planOf } from './fetch-plan.ts'
import { type Fault, openPublishers, type Publishers } from './publishers.fixture.ts'

let db: TestDatabase
let publishers: Publishers
beforeAll(async () => {
  db = await openTestDatabase()
  publishers = await openPublishers()
})
afterAll(async () => {
  await publishers?.close()
  await db?.close()
})
beforeEach(async () => {
  await db.database.query('delete from matrix_publisher')
  publishers.asked.length = 0
})

const startMs = Date.parse('2026-11-15T12:00:00Z')
const securities = createDemoSecurities(40)
const volume = planOf('finra-short-volume')
const volumeOf = (day: string) => `cdn.finra.org/equity/regsho/daily/CNMSshvol${toBasic(day)}.txt`
const publish = (day: string) => publishers.files.set(volumeOf(day), shortVolumeFile(securities, day).bytes)

function open() {
  const time = { nowMs: startMs }
  const clock = {
    nowMs: () => time.nowMs,
    monotonicMs: () => time.nowMs,
    sleep: async (ms: number) => {
      time.nowMs += ms
    },
  }
  return { time, deps: { database: db.database, clock, symbols: createSymbolTable(), outbound: publishers.outbound } }
}

const run = (deps: ReturnType<typeof open>['deps'], from: string, to: string, more: { again?: boolean } = {}) =>
  backfill(deps, [volume], { from, to, signal: new AbortController().signal, ...more })
const statuses = (reports: readonly BackfillReport[]) => reports.map(({ period, outcome }) => [period, outcome.status])

test('every trading day is asked for once, newest first, and its checksum is kept; a second run asks for nothing', async () => {
  const days = ['2026-10-05', '2026-10-06', '2026-10-08', '2026-10-09']
  for (const day of days) publish(day)
  const { deps } = open()
  const reports = await run(deps, '2026-10-03', '2026-10-11')
  expect(statuses(reports)).toEqual([
    ['2026-10-09', 'stored'],
    ['2026-10-08', 'stored'],
    ['2026-10-07', 'not_published'],
    ['2026-10-06', 'stored'],
    ['2026-10-05', 'stored'],
  ])
  for (const { period, sha256 } of reports)
    expect(sha256).toBe(
      period === '2026-10-07'
        ? null
        : createHash('sha256')
            .update(publishers.files.get(volumeOf(period)) as Buffer)
            .digest('hex'),
    )
  expect(publishers.asked.every(({ userAgent }) => userAgent.includes('ops@node.test'))).toBe(true)
  const before = publishers.asked.length
  expect(statuses(await run(deps, '2026-10-03', '2026-10-11')).map(([, status]) => status)).toEqual([
    'held',
    'held',
    'not_published',
    'held',
    'held',
  ])
  expect(publishers.asked).toHaveLength(before)
  expect((await run(deps, '2026-10-09', '2026-10-09', { again: true }))[0]?.outcome.status).toBe('not_modified')
})

test('an interrupted run goes on where it stopped', async () => {
  const days = ['2026-09-14', '2026-09-15', '2026-09-16', '2026-09-17', '2026-09-18']
  for (const day of days) publish(day)
  const stop = new AbortController()
  const { deps } = open()
  const options = { from: '2026-09-14', to: '2026-09-18' }
  const first = await backfill(deps, [volume], {
    ...options,
    signal: stop.signal,
    onReport: (_report, done) => done === 2 && stop.abort(),
  })
  expect(first).toHaveLength(2)
  const rest = await backfill(open().deps, [volume], { ...options, signal: new AbortController().signal })
  expect(rest.map(({ outcome }) => outcome.status)).toEqual(['held', 'held', 'stored', 'stored', 'stored'])
  const times = new Map<string, number>()
  for (const { address } of publishers.asked) times.set(address, (times.get(address) ?? 0) + 1)
  expect([...times.values()]).toEqual([1, 1, 1, 1, 1])
})

test.each<[string, Fault[]]>([
  ['errors', [500, 502]],
  ['a cut connection', ['cut']],
  ['a publisher that asks for a pause', [429]],
  ['a service that is down', [503]],
])('after %s the file is asked for again, and taken', async (what, faults) => {
  const day =
    { errors: '2026-08-03', 'a cut connection': '2026-08-04', 'a service that is down': '2026-08-06' }[what] ??
    '2026-08-05'
  publish(day)
  publishers.faults.set(volumeOf(day), [...faults])
  const [report] = await run(open().deps, day, day)
  expect(report?.outcome.status).toBe('stored')
  expect(publishers.asked).toHaveLength(faults.length + 1)
})

test('a day that cannot be had stops no other, and an error page is set aside', async () => {
  for (const day of ['2026-07-13', '2026-07-14', '2026-07-15']) publish(day)
  publishers.faults.set(volumeOf('2026-07-14'), [500, 500, 500, 500])
  publishers.faults.set(volumeOf('2026-07-13'), ['html'])
  expect(statuses(await run(open().deps, '2026-07-13', '2026-07-15'))).toEqual([
    ['2026-07-15', 'stored'],
    ['2026-07-14', 'failed'],
    ['2026-07-13', 'refused'],
  ])
  expect(statuses(await run(open().deps, '2026-07-13', '2026-07-15')).map(([, status]) => status)).toEqual([
    'held',
    'stored',
    'stored',
  ])
})

test('two processes that fetch from one publisher keep its pause between them', async () => {
  const sec = planOf('sec-fails')
  const turns: number[] = []
  const { deps, time } = open()
  const outbound = {
    fetch: async (...given: Parameters<typeof deps.outbound.fetch>) => {
      turns.push(time.nowMs)
      return deps.outbound.fetch(...given)
    },
  }
  const options = { from: '2025-01-01', to: '2025-03-31', signal: new AbortController().signal }
  await Promise.all([backfill({ ...deps, outbound }, [sec], options), backfill({ ...deps, outbound }, [sec], options)])
  const { rows } = await db.database.query<{ next_at: Date }>('select next_at from matrix_publisher')
  // As many turns as requests, each with its pause behind it.
  expect(rows[0]?.next_at.getTime()).toBeGreaterThanOrEqual(startMs + turns.length * sec.minRequestIntervalMs)
})

test('a file that came from disk under another name is not fetched again', async () => {
  const { ingestFile } = await import('./ingest-file.ts')
  const { deps } = open()
  const { bytes } = failsFile(securities, '2026-03a', '2026-11-12')
  await ingestFile(deps, { name: 'my-copy', bytes, source: 'sec-fails' })
  const reports = await backfill(deps, [planOf('sec-fails')], {
    from: '2026-03-02',
    to: '2026-03-10',
    signal: new AbortController().signal,
  })
  expect(statuses(reports)).toEqual([['2026-03a', 'held']])
  expect(publishers.asked).toEqual([])
})

const key = 'k3y-of-the-vendor/+=&'

test('the key of a vendor is sent to it and is found nowhere else', async () => {
  const settings = parseMatrixSettings(
    {
      PRICE_SOURCE: 'polygon',
      PRICE_SOURCE_KEY: key,
      LICENCES: 'prices | paid | Jane Doe | 2026-01-01 | contract 1',
    },
    { demo: false },
  )
  const [plan] = fetchPlans({ ...settings, fetch: settings.fetch.filter((id) => id === 'prices') })
  if (!plan) throw new Error('no plan for prices')
  const address = 'api.polygon.io/v2/aggs/grouped/locale/us/market/stocks'
  publishers.files.set(`${address}/2026-11-12`, polygonDay('2026-11-12'))
  publishers.files.set(`${address}/2026-11-11`, `{"status":"OK","request":"${key}"}`)
  publishers.faults.set(`${address}/2026-11-10`, [401, 401, 401, 401])
  const { deps } = open()
  const reports = await backfill(deps, [plan], {
    from: '2026-11-10',
    to: '2026-11-12',
    signal: new AbortController().signal,
  })
  expect(statuses(reports)).toEqual([
    ['2026-11-12', 'stored'],
    ['2026-11-11', 'failed'],
    ['2026-11-10', 'failed'],
  ])
  expect(JSON.stringify(reports)).toContain('the key is refused')
  expect(new URLSearchParams(publishers.asked[0]?.query).get('apiKey')).toBe(key)
  const kept = await Promise.all(
    ['matrix_fetch', 'matrix_file', 'matrix_refusal', 'matrix_publisher'].map(async (table) =>
      JSON.stringify((await db.database.query(`select * from ${table}`)).rows),
    ),
  )
  for (const text of [JSON.stringify(reports), ...kept])
    for (const form of [key, encodeURIComponent(key), 'k3y']) expect(text).not.toContain(form)
})

test('the first rounds bring as many trading days as the factors want, and the table of coverage says so', async () => {
  const { deps, time } = open()
  await db.database.query('delete from matrix_fetch')
  for (const { period } of volume.due(startMs)) publish(period)
  publishers.files.delete(volumeOf('2026-11-03'))
  const signal = new AbortController().signal
  const fileCache = createFileCache()
  const licences = createLicencePolicy({ demo: false, assertions: [] })
  const row = async () => {
    await fileCache.refresh(db.database)
    return coverageOf({ fileCache, licences, plans: [volume], clock: deps.clock }).find(
      ({ source }) => source === 'finra-short-volume',
    )
  }
  await fetchDue(deps, [volume], { signal })
  expect(await row()).toMatchObject({
    fetched: true,
    wanted: 61,
    present: 60,
    missing: ['2026-11-03'],
    last: '2026-11-13',
    stale: false,
    may_be_sold: false,
    fix: expect.stringContaining('backfill'),
  })
  const asked = publishers.asked.length
  time.nowMs += 13 * 3_600_000
  await fetchDue(deps, [volume], { signal })
  // What is old is left alone: a second round within the day checks few of them again.
  expect(publishers.asked.length - asked).toBeLessThan(15)
})
