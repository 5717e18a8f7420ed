import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { describe, expect, test } from 'vitest'
import type { PublishedBucket } from '../ports.ts'
import { type Carrier, postgresCarrier } from './carrier.ts'
import { closeBuckets, graceMs } from './close-bucket.ts'
import { openFeed } from './feed.ts'
import { fixedClock, insertSearches, intentDeps } from './intents.fixture.ts'
import { openNatsCarrier } from './nats-carrier-adapter.ts'
import { natsInstalled, startNats } from './nats-server.fixture.ts'
import { newestSeq } from './store.ts'

const db = await useTestDatabase()

const hour = 3_600_000
const noon = Date.UTC(2026, 5, 1, 12)
let hours = 0

/** One hour in which thirty agents searched, closed. */
async function publishHour(): Promise<void> {
  const clock = fixedClock(noon + hours * hour + graceMs)
  const deps = intentDeps(db.database, clock)
  await closeBuckets(deps)
  await insertSearches(deps, 30, 'stocks and bonds', noon + hours * hour + 5)
  hours += 1
  clock.set(noon + hours * hour + graceMs)
  await closeBuckets(deps)
}

async function follow(carrier: Carrier) {
  const seen: PublishedBucket[] = []
  const feed = await openFeed(intentDeps(db.database, systemClock), carrier)
  feed.onPublished((buckets) => seen.push(...buckets))
  return { seen, feed }
}

const patience = { timeout: 30_000, interval: 50 }

test('within one database every process learns of a bucket by a notification, once and in order', async () => {
  const [one, other] = await Promise.all([follow(postgresCarrier(db.database)), follow(postgresCarrier(db.database))])
  await publishHour()
  await publishHour()
  for (const { seen } of [one, other]) {
    await expect.poll(() => seen.length, patience).toBe(6)
    expect(seen.map(({ startsAtMs }) => startsAtMs)).toEqual(seen.map(({ startsAtMs }) => startsAtMs).sort())
    expect(new Set(seen.map(({ eventId }) => eventId)).size).toBe(6)
  }
  await Promise.all([one.feed.stop(), other.feed.stop()])
})

describe.skipIf(!natsInstalled)('with a NATS server (skipped where nats-server is not installed)', () => {
  test('JetStream carries events between machines; what a dead process left unsaid is said by the next, once', async () => {
    const server = await startNats()
    const open = () => openNatsCarrier({ url: server.url, instance: 'test', database: db.database, log: silentLog })
    const [publisher, reader] = await Promise.all([open(), open()])
    try {
      await publisher.announce()
      const { seen, feed } = await follow(reader)
      await publishHour()
      await publisher.announce()
      await expect.poll(() => seen.length, patience).toBe(3)
      // Published, and then the process died before it could say so; another one says it, twice for good measure.
      await publishHour()
      const second = await open()
      await second.announce()
      await db.database.query('update intent_announced set seq = seq - 2')
      await second.announce()
      await expect.poll(() => seen.length, patience).toBe(6)
      expect(new Set(seen.map(({ eventId }) => eventId)).size).toBe(6)
      expect(feed.last()).toBe(await newestSeq(db.database))
      await feed.stop()
      await second.stop()
    } finally {
      await publisher.stop()
      await server.stop()
    }
  })

  test('a broker that wants a login gets the one of its URL, and an error does not repeat it', async () => {
    const login = { user: 'node one', password: 'p@ss:word' }
    const server = await startNats(-1, undefined, login)
    const options = { instance: 'login', database: db.database, log: silentLog }
    const withLogin = (password: string) =>
      server.url.replace('//', `//${encodeURIComponent(login.user)}:${encodeURIComponent(password)}@`)
    try {
      const carrier = await openNatsCarrier({ ...options, url: withLogin(login.password) })
      await carrier.stop()
      const refused = openNatsCarrier({ ...options, url: withLogin('not the password') })
      const message = await refused.then(
        () => 'let in',
        (error: unknown) => String(error),
      )
      expect(message).toContain('NATS_URL')
      expect(message).not.toContain('not the password')
      expect(message).not.toContain('not%20the')
    } finally {
      await server.stop()
    }
  })

  test('a broker that is away for a while loses nothing: the rows are read instead', async () => {
    const first = await startNats()
    const carrier = await openNatsCarrier({
      url: first.url,
      instance: 'away',
      database: db.database,
      log: silentLog,
    })
    const { seen, feed } = await follow(carrier)
    await first.kill()
    await publishHour()
    const again = await startNats(first.port, first.folder)
    try {
      await expect.poll(() => seen.length, patience).toBe(3)
    } finally {
      await feed.stop()
      await carrier.stop()
      await again.stop()
    }
  })
})
