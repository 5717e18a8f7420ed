import type { Address } from '@assay/protocol/address'
import { systemRng } from '@assay/till/kernel/random'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { openStreamSubscriptions, parseSubscriptionPolicy } from '../subscriptions/index.ts'
import { fixedClock } from './intents.fixture.ts'
import { closerOf, fileEvents, listFiles, publishEvents, seriesOf } from './store.ts'

const day = 86_400_000
const startMs = Date.UTC(2026, 5, 1)
const wallet: Address = `0x${'5a'.repeat(20)}`
const db = await useTestDatabase()

/** One figure and the end of its bucket for each of these days. */
const published = (days: number) =>
  Array.from({ length: days }, (_, index) => {
    const [seq, startsAtMs] = [2 * index + 1, startMs + index * day]
    const bucket = { startsAtMs, endsAtMs: startsAtMs + day / 2, synthetic: true }
    const closer = closerOf(bucket, seq + 1, `closer ${index}`)
    return [{ ...closer, seq, cluster: '52', demand: 100, bonded: 10, event: `figure ${index}` }, closer]
  }).flat()

test('what was published in a pause that was given back is in no file and no series', async () => {
  await db.database.transaction((tx) => publishEvents(tx, published(12), startMs + 12 * day))
  const clock = fixedClock(startMs + 12 * day)
  const subscriptions = openStreamSubscriptions(
    { database: db.database, rng: systemRng, networks: [], clock },
    parseSubscriptionPolicy(),
  )
  // The second one was too short to be given back.
  await db.database.query(
    `insert into subscription_pause (wallet, product, began_at, ended_at) values ($1, 'stream', $2, $3), ($1, 'stream', $4, $5)`,
    [wallet, ...[1, 9, 10, 11].map((days) => new Date(startMs + days * day))],
  )
  const paid = { after: 0, pauses: await subscriptions.pausesOf(wallet) }
  const days = ['2026-06-01', '2026-06-10', '2026-06-11', '2026-06-12']
  expect((await listFiles(db.database, paid)).map((file) => file.day)).toEqual(days)
  expect(await fileEvents(db.database, '2026-06-05.0', paid)).toEqual([])
  expect(await fileEvents(db.database, '2026-06-10.0', paid)).toEqual(['figure 9', 'closer 9'])
  const { data } = await seriesOf(db.database, '52', paid)
  expect(data.map(({ starts_at }) => starts_at.slice(0, 10))).toEqual(days)
})
