import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { createNotifications } from '../../../notifications/events.ts'
import type { FeedId } from '../feeds/feed.ts'
import { type SampleRow, sampleSnapshot } from '../snapshots/snapshot.fixture.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { alertJob, alertTopic, checkAlerts } from './alert-job.ts'
import { parseRule } from './rule.ts'

const db = await useTestDatabase()
const clock = { nowMs: () => Date.parse('2026-11-17T12:00:00Z'), monotonicMs: () => 0, sleep: async () => {} }
const shown = new Map<FeedId, Snapshot>()
const show = (feed: FeedId, rows: readonly SampleRow[]) => {
  shown.set(feed, sampleSnapshot(feed, feed === 'squeeze' ? 'assay-squeeze-2' : 'any', rows))
}
const row = (symbol: string, score: number) => ({ symbol, top: `,"score":${score}`, values: {} })

async function openAlerts(rules: readonly string[]) {
  const events = createNotifications({ database: db.database, clock }, new Map([[alertTopic.name, alertTopic]]))
  const wallet = `0x${'1'.repeat(40)}`
  await db.owner.query('delete from notification_event')
  await db.owner.query('delete from notification_endpoint')
  await db.owner.query(
    `insert into notification_endpoint (id, wallet, kind, target, state, created_at, changed_at)
     values ('nep_1', $1, 'webhook', 'https://example.com/', 'active', now(), now())`,
    [wallet],
  )
  for (const [index, rule] of rules.entries())
    await db.owner.query(
      `insert into notification_watch (id, wallet, endpoint, topic, subject, paid, created_at)
       values ($1, $2, 'nep_1', $3, $4, false, now())`,
      [`nwt_${index}`, wallet, alertTopic.name, alertTopic.subjectOf(rule)],
    )
  const snapshotCache = { current: (feed: FeedId) => shown.get(feed) ?? { status: 'no_data' as const, leftOut: [] } }
  const texts = async () =>
    (await events.recent(alertTopic.name, { limit: 50 })).map(({ payload }) => payload['text']).reverse()
  const deps = { database: db.database, snapshotCache, events }
  const openJob = () => {
    let reads = 0
    const counted = {
      ...events,
      declare: () => {},
      watched: (topic: string) => {
        reads += 1
        return events.watched(topic)
      },
    }
    const job = alertJob({ ...deps, events: counted })
    return async () => [await job.work(), reads]
  }
  return { check: () => checkAlerts(deps), texts, openJob }
}

test('a rule tells once when it begins to hold, and again after it stopped holding; a new rule only learns how things are', async () => {
  const { check, texts } = await openAlerts(['squeeze:gme:score>=95'])
  show('squeeze', [row('GME', 96)])
  expect(await check()).toBe(0)
  show('squeeze', [row('GME', 90)])
  await check()
  show('squeeze', [row('GME', 97.5)])
  expect(await check()).toBe(1)
  expect(await check()).toBe(0)
  show('squeeze', [row('GME', 98)])
  expect(await check()).toBe(0)
  show('squeeze', [row('AMC', 98)])
  expect(await check()).toBe(0)
  show('squeeze', [row('GME', 99)])
  expect(await check()).toBe(0)
  expect(await texts()).toEqual(['GME: score is 97.5 (0..100), was 90'])
})

test('moves of the rank add up until they reach the number of places, then count from there', async () => {
  const { check, texts } = await openAlerts(['squeeze:GME:rank~2'])
  const at = (place: number) =>
    show(
      'squeeze',
      Array.from({ length: 6 }, (_, index) => row(index === place - 1 ? 'GME' : `S${index}${place}`, 50)),
    )
  for (const [place, sent] of [
    [5, 0],
    [4, 0],
    [3, 1],
    [2, 0],
    [1, 1],
  ] as const) {
    at(place)
    expect([place, await check()]).toEqual([place, sent])
  }
  expect(await texts()).toEqual(['GME: rank is 3 (place), was 5', 'GME: rank is 1 (place), was 3'])
})

test('new entries of a threshold list are sent once for each symbol and list', async () => {
  const { check, texts } = await openAlerts(['threshold:*:entered', 'threshold:GME:entered'])
  show('threshold', [
    { symbol: 'AMC', values: { days_on_list: 1, entered: true } },
    { symbol: 'GME', values: { days_on_list: 7, entered: false } },
  ])
  expect(await check()).toBe(1)
  show('threshold', [
    { symbol: 'AMC', values: { days_on_list: 1, entered: true } },
    { symbol: 'GME', values: { days_on_list: 1, entered: true } },
  ])
  await check()
  expect(await texts()).toEqual(['AMC: entered', 'GME: entered', 'GME: entered'])
})

test('a rule that nobody watches any more is deleted', async () => {
  const { check } = await openAlerts([])
  await check()
  expect((await db.owner.query('select from matrix_alert')).rowCount).toBe(0)
})

test('rules are read when a snapshot or a rule is new, and not before', async () => {
  show('squeeze', [row('GME', 90)])
  const { openJob } = await openAlerts(['squeeze:GME:score>=95'])
  const round = openJob()
  expect([await round(), await round()]).toEqual([
    [0, 1],
    [0, 1],
  ])
  show('squeeze', [row('GME', 96)])
  expect([await round(), await round()]).toEqual([
    [1, 2],
    [0, 2],
  ])
  await db.owner.query(`update notification_watch set subject = 'squeeze:GME:score>=97'`)
  expect([await round(), await round()]).toEqual([
    [0, 3],
    [0, 3],
  ])
  expect((await db.owner.query('select rule from matrix_alert')).rows).toEqual([{ rule: 'squeeze:GME:score>=97' }])
  await db.owner.query('delete from notification_watch')
  expect(await round()).toEqual([0, 4])
  expect((await db.owner.query('select from matrix_alert')).rowCount).toBe(0)
})

test('rules have one spelling, and what no feed shows to everybody is refused', () => {
  expect(parseRule('borrow:brk/b:fee_pct>50.0')?.text).toBe('borrow:BRK.B:fee_pct>50')
  for (const wrong of [
    'squeeze:GME:beauty>1',
    'squeeze:GME:score',
    'squeeze:*:score>=95',
    'squeeze:GME:score~5',
    'squeeze:GME:rank~0',
    'halts:GME:reason>1',
    'borrow:GME:rebate_pct<0',
    'nofeed:GME:score>1',
    'squeeze:GME:score>=95; drop table',
  ])
    expect([wrong, parseRule(wrong)]).toEqual([wrong, undefined])
})
