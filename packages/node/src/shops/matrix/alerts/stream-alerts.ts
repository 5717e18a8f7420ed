import type { FeedId } from '../feeds/feed.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { isSnapshot, type SnapshotCache } from '../snapshots/snapshot-cache.ts'
import { type Alert, checkRules, type Seen } from './check-rules.ts'
import { parseRules, type Rule } from './rule.ts'

/**
 * Rules of one stream, held against every new snapshot of their feeds. They begin with what is shown now, or with what the
 * reader saw last, so that nothing is missed between two connections.
 */
export function createStreamAlerts(
  { snapshotCache }: { snapshotCache: Pick<SnapshotCache, 'current' | 'recent'> },
  streamRequest: { feed: FeedId; alerts?: string; last_event_id?: string },
): (snapshot: Snapshot) => readonly Alert[] {
  const rules = streamRequest.alerts === undefined ? [] : (parseRules(streamRequest.alerts) ?? [])
  const seen = new Map<string, Seen>()
  const check = (snapshot: Snapshot, own: readonly Rule[]) => {
    const checked = checkRules(snapshot, own, seen)
    for (const [rule, state] of checked.seen) seen.set(rule, state)
    return checked.alerts
  }
  const of = (feed: FeedId) => rules.filter((rule) => rule.feed === feed)
  // Of a list, what is on it when the stream begins is no news.
  const sent = new Set<string>()
  const news = (snapshot: Snapshot) =>
    check(snapshot, of(snapshot.manifest.feed)).filter(({ subject, key, payload }) => {
      const name = `${subject} ${payload['symbol'] === undefined ? '' : String(payload['symbol'])} ${key}`
      if (sent.has(name)) return false
      sent.add(name)
      return true
    })
  for (const feed of new Set(rules.map((rule) => rule.feed))) {
    const last =
      streamRequest.last_event_id === undefined ? undefined : snapshotCache.recent(streamRequest.last_event_id)
    const first = last?.manifest.feed === feed ? last : snapshotCache.current(feed, 'vip')
    if (isSnapshot(first)) news(first)
  }
  return news
}
