import { expect, test } from 'vitest'
import type { FeedId } from '../feeds/feed.ts'
import { sampleSnapshot } from '../snapshots/snapshot.fixture.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { parseRules } from './rule.ts'
import { createStreamAlerts } from './stream-alerts.ts'

const ranking = (score: number) =>
  sampleSnapshot('squeeze', 'assay-squeeze-2', [{ symbol: 'GME', top: `,"score":${score}`, values: {} }])
const list = (...entered: string[]) =>
  sampleSnapshot(
    'threshold',
    'any',
    entered.map((symbol) => ({ symbol, values: { days_on_list: 1, entered: true } })),
  )
const snapshotCacheOf = (shown: Partial<Record<FeedId, Snapshot>>, recent: readonly Snapshot[] = []) => ({
  current: (feed: FeedId) => shown[feed] ?? { status: 'no_data' as const, leftOut: [] },
  recent: (sha256: string) => recent.find((one) => one.sha256 === sha256),
})
const texts = (alerts: readonly { payload: { [key: string]: unknown } }[]) =>
  alerts.map(({ payload }) => payload['text'])

test('a stream tells when a rule begins to hold and of new entries, not of what is there when it begins', () => {
  const snapshotCache = snapshotCacheOf({ squeeze: ranking(90), threshold: list('AMC') })
  const watch = createStreamAlerts(
    { snapshotCache },
    { feed: 'squeeze', alerts: 'squeeze:GME:score>=95,threshold:*:entered' },
  )
  expect(texts(watch(ranking(96)))).toEqual(['GME: score is 96 (0..100), was 90'])
  expect(watch(ranking(97))).toEqual([])
  expect(texts(watch(list('AMC', 'GME')))).toEqual(['GME: entered'])
  expect(watch(list('AMC', 'GME'))).toEqual([])
})

test('after a break the stream goes on from what its reader saw last', () => {
  const [seen, now] = [ranking(90), ranking(96)]
  const snapshotCache = snapshotCacheOf({ squeeze: now }, [seen])
  const streamRequest = { feed: 'squeeze' as const, alerts: 'squeeze:GME:score>=95' }
  expect(
    texts(createStreamAlerts({ snapshotCache }, { ...streamRequest, last_event_id: seen.sha256 })(now)),
  ).toHaveLength(1)
  expect(createStreamAlerts({ snapshotCache }, streamRequest)(now)).toEqual([])
})

test('rules of a stream may name any column, at most twenty of them', () => {
  expect(parseRules('squeeze:GME:factors.borrow_fee>50')).toHaveLength(1)
  expect(parseRules('squeeze:GME:nothing>50')).toBeUndefined()
  expect(parseRules(Array.from({ length: 21 }, () => 'squeeze:GME:score>1').join())).toBeUndefined()
})
