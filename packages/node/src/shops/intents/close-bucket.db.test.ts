import type { Address } from '@assay/protocol/address'
import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bucketDueSql, closeBuckets, graceMs } from './close-bucket.ts'
import { seedPast } from './demo/seed-past.ts'
import { publishedEvent } from './event-schema.ts'
import { type Counted, fixedClock, insertSearches, intentDeps } from './intents.fixture.ts'
import { readBudget } from './privacy.ts'
import { parseIntentSettings } from './settings.ts'
import { keepsPromise, readSignal } from './signal.ts'
import { eventsAfter, newestSeq, publishedBuckets, seqBefore } from './store.ts'

let db: TestDatabase
beforeEach(async () => {
  db = await openTestDatabase()
})
afterEach(() => db.close())

const hour = 3_600_000
const noon = Date.UTC(2026, 5, 1, 12)
const afterHour = (n: number) => noon + n * hour + graceMs
const buckets = async () =>
  (
    await db.database.query<{ starts_at: Date; ends_at: Date }>(
      'select starts_at, ends_at from intent_bucket order by starts_at',
    )
  ).rows.map((row) => [row.starts_at.getTime(), row.ends_at.getTime()])

test('a bucket is closed when it is over and the sales on their way have arrived, and then once', async () => {
  const clock = fixedClock(noon + graceMs - 1)
  const deps = intentDeps(db.database, clock)
  expect(await closeBuckets(deps)).toBe(1)
  expect(await buckets()).toEqual([[noon - 2 * hour, noon - hour]])
  clock.set(afterHour(0))
  expect(await closeBuckets(deps)).toBe(1)
  expect(await closeBuckets(deps)).toBe(0)
  expect(await buckets()).toHaveLength(2)
})

test.each([
  ['fixed', { bucket_seconds: 60 }, 20_000],
  ['planned', {}, 8 * hour],
])('a bucket of %s width is due when it is closed', async (_, given, stepMs) => {
  const clock = fixedClock(noon + 1)
  const settings = parseIntentSettings(given, false)
  const deps = { ...intentDeps(db.database, clock), settings }
  const isDue = async () => {
    const text = `select (${bucketDueSql(settings.fixedPlan?.bucketMs)})::text as due from (select $1::timestamptz) as asked`
    return (await db.database.query<{ due: string }>(text, [new Date(clock.nowMs())])).rows[0]?.due === 'true'
  }
  const closed: boolean[] = []
  for (let step = 0; step < 12; step += 1) {
    clock.set(noon + 1 + step * stepMs)
    const due = await isDue()
    closed.push((await closeBuckets(deps)) > 0)
    expect(due).toBe(closed.at(-1))
    expect(await isDue()).toBe(false)
  }
  expect(closed).toContain(false)
  expect(closed.filter((one) => one).length).toBeGreaterThan(2)
})

test('demand is published for a topic and those above it, bonds of clusters apart, and the day is charged', async () => {
  const clock = fixedClock(afterHour(0))
  const deps = intentDeps(db.database, clock)
  await closeBuckets(deps)
  await insertSearches(deps, 60, 'stocks and bonds', noon + 5)
  // Half of them are one cluster: they count as one.
  await db.database.query(
    `insert into citing_agent (agent, cluster, first_seen_at, bond_micro)
     select '0x' || lpad(to_hex(n), 40, '0'), '0x' || lpad(to_hex(case when n <= 30 then 1 else n end), 40, '0'), now(),
       case when n = 1 or n > 30 then 20000000 else 0 end
     from generate_series(1, 60) n`,
  )
  clock.set(afterHour(1))
  expect(await closeBuckets(deps)).toBe(1)
  const cells = await publishedBuckets(db.database, { fromMs: noon, toMs: noon + hour })
  expect(cells.map(({ cluster }) => cluster).sort()).toEqual(['391', '410', '414'])
  for (const { demand, bonded, synthetic } of cells) {
    expect(Math.abs((demand ?? 0) - 31)).toBeLessThan(12)
    expect(Math.abs((bonded ?? 0) - 31)).toBeLessThan(12)
    expect(synthetic).toBe(false)
  }
  for (const { event } of await eventsAfter(db.database, 0, 100))
    expect(publishedEvent.safeParse(JSON.parse(event)).error).toBeUndefined()
  const budget = await readBudget(db.database, noon)
  expect(budget?.spentMicro).toBe(((budget?.capMicro ?? 0n) / 24n) * 2n)
  const named = await publishedBuckets(db.database, { cluster: '52', fromMs: noon - hour, toMs: noon + hour })
  expect(named.map(({ demand }) => demand)).toEqual([null, null])
})

test('eight processes that close at once close every bucket once, with numbers that have no holes', async () => {
  const clock = fixedClock(afterHour(0))
  const deps = intentDeps(db.database, clock, { bucket_seconds: 60 })
  await closeBuckets(deps)
  for (let minute = 0; minute < 5; minute += 1)
    await insertSearches(deps, 20, 'stocks and bonds', noon + minute * 60_000)
  clock.set(noon + 5 * 60_000 + graceMs)
  const closed = await Promise.all(Array.from({ length: 8 }, () => closeBuckets(deps)))
  expect(closed.reduce((sum, count) => sum + count, 0)).toBe(5)
  const events = await eventsAfter(db.database, 0, 1_000)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  expect(await buckets()).toHaveLength(6)
})

test('a process that dies while closing leaves nothing, and the next one closes the same bucket', async () => {
  const clock = fixedClock(afterHour(0))
  const deps = intentDeps(db.database, clock)
  await closeBuckets(deps)
  await insertSearches(deps, 30, 'stocks and bonds', noon + 5)
  clock.set(afterHour(1))
  const before = await newestSeq(db.database)
  const dying = {
    ...deps,
    jws: {
      ...deps.jws,
      sign: (payload: Parameters<typeof deps.jws.sign>[0]) => {
        if ((payload as { type?: string }).type === 'market.intent.bucket.v1') throw new Error('killed')
        return deps.jws.sign(payload)
      },
    },
  }
  await expect(closeBuckets(dying)).rejects.toThrow('killed')
  expect(await newestSeq(db.database)).toBe(before)
  expect((await readBudget(db.database, noon))?.spentMicro).toBe(deps.settings.epsilonDailyMicro / 24n)
  expect(await closeBuckets(deps)).toBe(1)
  expect(await publishedBuckets(db.database, { fromMs: noon, toMs: noon + hour })).toHaveLength(3)
})

test('a day whose budget is spent publishes nothing more, and says so', async () => {
  const clock = fixedClock(noon - 11 * hour + graceMs)
  const deps = intentDeps(db.database, clock)
  await closeBuckets(deps)
  await db.database.query('update intent_budget set cap_micro = spent_micro')
  const at = noon - 11 * hour
  await insertSearches(deps, 40, 'stocks and bonds', at + 5)
  clock.set(at + hour + graceMs)
  expect(await closeBuckets(deps)).toBe(1)
  const [event] = await eventsAfter(db.database, 1, 10)
  expect(JSON.parse(event?.event ?? '').data).toMatchObject({ withheld: 'privacy_budget', published_clusters: 0 })
})

test('a leap of the clock closes what was searched in between and passes over the rest, and says so', async () => {
  const clock = fixedClock(afterHour(0))
  const deps = intentDeps(db.database, clock)
  await closeBuckets(deps)
  await insertSearches(deps, 30, 'stocks and bonds', noon + 50 * hour)
  clock.set(afterHour(1_000))
  expect(await closeBuckets(deps)).toBe(2)
  expect((await buckets()).slice(1)).toEqual([
    [noon + 50 * hour, noon + 51 * hour],
    [noon + 999 * hour, noon + 1_000 * hour],
  ])
  const skips = (await eventsAfter(db.database, 1, 100))
    .filter(({ cluster }) => cluster === null)
    .map(({ event }) => JSON.parse(event).data.skipped_from_at)
  expect(skips).toEqual([new Date(noon).toISOString(), new Date(noon + 51 * hour).toISOString()])
})

test('a clock that goes back closes nothing twice and raises an alarm', async () => {
  const counted: Counted[] = []
  const clock = fixedClock(afterHour(0))
  const deps = intentDeps(db.database, clock, {}, counted)
  await closeBuckets(deps)
  clock.set(noon - 90 * hour)
  expect(await closeBuckets(deps)).toBe(0)
  expect(await buckets()).toHaveLength(1)
  expect(counted).toContainEqual({ name: 'alarms', labels: { alarm: 'intent_clock' } })
})

test('after a change of their length buckets still meet end to end', async () => {
  const clock = fixedClock(afterHour(0))
  await closeBuckets(intentDeps(db.database, clock, { bucket_seconds: 600 }))
  clock.set(noon + 20 * 60_000 + graceMs)
  await insertSearches(intentDeps(db.database, clock), 1, 'stocks', noon + 1)
  await insertSearches(intentDeps(db.database, clock), 1, 'stocks', noon + 11 * 60_000)
  await closeBuckets(intentDeps(db.database, clock, { bucket_seconds: 600 }))
  clock.set(afterHour(1))
  await closeBuckets(intentDeps(db.database, clock, { bucket_seconds: 3_600 }))
  const found = await buckets()
  for (const [index, [startsAt]] of found.entries()) if (index > 0) expect(startsAt).toBe(found[index - 1]?.[1])
  expect(found.at(-1)).toEqual([noon + 20 * 60_000, noon + hour])
})

test('a bond that ends too early or is too small does not count', async () => {
  const clock = fixedClock(afterHour(0))
  const endsAtMs = noon + hour
  const walletFacts = {
    interested: async () => [],
    fundingClusters: async () => new Map<Address, string>(),
    activeBonds: async (_sql: unknown, wallets: readonly Address[] | 'all') =>
      new Map(
        (wallets === 'all' ? [] : wallets).map((wallet, index) => [
          wallet,
          index % 3 === 0
            ? { micro: 10_000_000n, lockedUntilMs: endsAtMs + 31 * 86_400_000 }
            : index % 3 === 1
              ? { micro: 10_000_000n, lockedUntilMs: endsAtMs + 31 * 86_400_000 - 1 }
              : { micro: 9_999_999n, lockedUntilMs: endsAtMs + 80 * 86_400_000 },
        ]),
      ),
  }
  const deps = { ...intentDeps(db.database, clock), walletFacts }
  await closeBuckets(deps)
  await insertSearches(deps, 90, 'stocks and bonds', noon + 5)
  clock.set(afterHour(1))
  await closeBuckets(deps)
  const cells = await publishedBuckets(db.database, { fromMs: noon, toMs: endsAtMs })
  expect(cells).toHaveLength(3)
  for (const { bonded } of cells) expect(Math.abs((bonded ?? 0) - 30)).toBeLessThan(12)
})

test('a demo begins with a day of invented demand, marked so, and fills what it slept through', async () => {
  const clock = fixedClock(afterHour(0))
  const deps = { ...intentDeps(db.database, clock), demo: true }
  await seedPast(deps)
  const first = await publishedBuckets(db.database, { cluster: '414', fromMs: 0, toMs: noon })
  expect(first.length).toBeGreaterThan(100)
  expect(first.every(({ synthetic, demand }) => synthetic && (demand ?? 0) >= 10)).toBe(true)
  expect((first[0]?.endsAtMs ?? 0) <= noon - 25 * hour).toBe(true)
  expect(first.at(-1)?.endsAtMs).toBe(noon)
  await seedPast(deps)
  expect(await newestSeq(db.database)).toBeGreaterThan(1_000)
  const kept = await newestSeq(db.database)
  clock.set(afterHour(2))
  await seedPast(deps)
  const all = await publishedBuckets(db.database, { cluster: '414', fromMs: 0, toMs: noon + 2 * hour })
  for (const [index, one] of all.entries()) if (index > 0) expect(one.startsAtMs).toBe(all[index - 1]?.endsAtMs)
  expect(await newestSeq(db.database)).toBeGreaterThan(kept)
  expect(await seqBefore(db.database, noon)).toBe(kept)
})

test('the searches of those who bought figures of this time move none of them, whichever wallet of theirs asks', async () => {
  const clock = fixedClock(afterHour(0))
  const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as Address
  const walletFacts = {
    ...intentDeps(db.database, clock).walletFacts,
    // Wallets 1 to 30 live on the money of the buyer, who never searches itself.
    fundingClusters: async () =>
      new Map([wallet(999), ...Array.from({ length: 30 }, (_, n) => wallet(n + 1))].map((one) => [one, 'buyer'])),
    interested: async () => [wallet(999)],
  }
  const deps = { ...intentDeps(db.database, clock), walletFacts }
  await closeBuckets(deps)
  await insertSearches(deps, 70, 'stocks and bonds', noon + 5)
  clock.set(afterHour(1))
  await closeBuckets(deps)
  const cells = await publishedBuckets(db.database, { fromMs: noon, toMs: noon + hour })
  expect(cells).toHaveLength(3)
  for (const { demand } of cells) expect(Math.abs((demand ?? 0) - 40)).toBeLessThan(4)
})

test('a day is cut by what the day before published: wide at first, finer with traffic, wide again without', async () => {
  const day = 24 * hour
  const midnight = noon - 12 * hour
  const clock = fixedClock(midnight + graceMs)
  const base = intentDeps(db.database, clock)
  const deps = { ...base, settings: parseIntentSettings({}, false) }
  const lengths = async () => (await buckets()).map(([from, to]) => ((to as number) - (from as number)) / hour)
  await closeBuckets(deps)
  await insertSearches(deps, 3_000, 'stocks and bonds', midnight + 5)
  clock.set(midnight + day + graceMs - 1)
  expect(await closeBuckets(deps)).toBe(0)
  clock.set(midnight + day + graceMs)
  expect(await closeBuckets(deps)).toBe(1)
  expect(await lengths()).toEqual([24, 24])
  const { rows } = await db.database.query<{ bucket_ms: bigint; tiers: number }>(
    'select bucket_ms, tiers from intent_plan order by day desc limit 1',
  )
  expect(rows[0]?.tiers).toBe(2)
  expect(Number(rows[0]?.bucket_ms)).toBeLessThan(day)
  // Nobody searches on the second day: what was cut fine stays silent, and the third day is wide.
  await insertSearches(deps, 1, 'stocks and bonds', midnight + 2 * day + 5)
  clock.set(midnight + 3 * day + graceMs)
  await closeBuckets(deps)
  expect((await lengths()).at(-1)).toBe(24)
})

test('what a day published is worth what its error bars say, and no more is sold', async () => {
  const clock = fixedClock(afterHour(0))
  const deps = intentDeps(db.database, clock, { epsilon_daily: 24, k: 10 })
  expect(keepsPromise(await readSignal(db.database))).toBe(false)
  await closeBuckets(deps)
  await insertSearches(deps, 40, 'stocks and bonds', noon + 5)
  clock.set(afterHour(1))
  await closeBuckets(deps)
  const weak = await readSignal(db.database)
  expect(weak?.error ?? 1).toBeGreaterThan(0.25)
  expect(keepsPromise(weak)).toBe(false)
  await insertSearches(deps, 4_000, 'stocks and bonds', noon + hour + 5)
  clock.set(afterHour(2))
  await closeBuckets(deps)
  expect(keepsPromise(await readSignal(db.database))).toBe(true)
})
