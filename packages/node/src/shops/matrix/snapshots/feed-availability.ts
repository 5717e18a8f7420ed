import type { Since, Unavailable } from '../../../http/index.ts'
import type { FileCache } from '../as-of/file-cache.ts'
import { feeds } from '../feeds/catalogue.ts'
import { type FeedId, feedIds } from '../feeds/feed.ts'
import type { LicencePolicy } from '../licences/licence-policy.ts'
import type { SourceId } from '../sources/source.ts'
import { isSnapshot } from './make-snapshot.ts'
import type { NoSnapshot, Snapshot } from './snapshot.ts'
import { freshnessOf, type SourceState } from './staleness.ts'

export type AvailabilityDeps = {
  clock: { nowMs(): number }
  fileCache: FileCache
  licences: LicencePolicy
  snapshotCache: { current(feed: FeedId, tier: 'live'): Snapshot | NoSnapshot }
  plans: readonly { source: SourceId }[]
  since: Since
}

/** Why a feed is not for sale now; undefined while it is. */
export function feedUnavailable(deps: AvailabilityDeps, feed: FeedId): Unavailable | undefined {
  const nowMs = deps.clock.nowMs()
  const shown = deps.snapshotCache.current(feed, 'live')
  const reason = isSnapshot(shown)
    ? reasonOf(shown, freshnessOf(deps.fileCache, feeds[feed], nowMs).late)
    : reasonWithout(shown, feed, deps)
  const noticedMs = deps.since(feed, reason !== undefined)
  return reason && { ...reason, sinceMs: reason.sinceMs ?? noticedMs }
}

/** Why none of the feeds is for sale. */
export function allUnavailable(deps: AvailabilityDeps): Unavailable | undefined {
  const reasons = feedIds.map((feed) => feedUnavailable(deps, feed))
  if (reasons.some((reason) => reason === undefined)) return undefined
  const sinceMs = Math.max(...reasons.map((reason) => reason?.sinceMs ?? 0))
  const detail = `None of the feeds is for sale now; GET /matrix says why for each. ${whatIsMissing(deps)}`
  return { why: 'no_feed', detail: detail.trim(), sinceMs }
}

/** What a subscriber may count on: the node may sell it and holds data for it. */
export function isOffered({ snapshotCache }: AvailabilityDeps, feed: FeedId): boolean {
  return isSnapshot(snapshotCache.current(feed, 'live'))
}

/** For the operator, who reads it in /readyz: what is waited for, and what was never set up. */
function whatIsMissing(deps: AvailabilityDeps): string {
  const held = (id: SourceId) => deps.fileCache.known(id, deps.clock.nowMs()).length > 0
  const needed = [...new Set(feedIds.flatMap((id) => feeds[id].needs))].filter((id) => !held(id))
  const fetched = needed.filter((id) => deps.plans.some(({ source }) => source === id))
  const licensed = (id: SourceId) => deps.licences.may(id, false, 'paid')
  const unset = needed.filter((id) => !fetched.includes(id) && licensed(id))
  const unlicensed = needed.filter((id) => !fetched.includes(id) && !licensed(id))
  return [
    fetched.length > 0 ? `Nothing has come yet of ${fetched.join(', ')}.` : '',
    unset.length > 0 ? `Not fetched (MATRIX, CONTACT_EMAIL): ${unset.join(', ')}.` : '',
    unlicensed.length > 0 ? `LICENCES has no line for ${unlicensed.join(', ')}.` : '',
  ]
    .filter(Boolean)
    .join(' ')
}

type Reason = Omit<Unavailable, 'sinceMs'> & { sinceMs?: number }

/** Why a snapshot is not for sale: it is empty, or nothing that it needs arrived when it was due. */
function reasonOf({ manifest }: Snapshot, late: readonly SourceState[]): Reason | undefined {
  const { feed } = manifest
  if (manifest.row_count === 0) return { why: 'empty', detail: `The newest snapshot of ${feed} has no row.` }
  const used = feeds[feed].needs.filter((id) => manifest.inputs.some(({ source }) => source === id))
  const lateUsed = late.filter(({ source }) => used.includes(source))
  if (lateUsed.length < used.length) return undefined
  const missing = lateUsed.map(({ source, why }) => ({ source, why: why ?? null }))
  const due = lateUsed.flatMap(({ dueAtMs }) => dueAtMs ?? [])
  return {
    why: 'stale',
    detail: `The data of ${feed} are older than its sources' schedules allow.`,
    ...(due.length === 0 ? {} : { sinceMs: Math.max(...due) }),
    extra: { as_of: manifest.as_of, missing },
  }
}

function reasonWithout({ status, leftOut }: NoSnapshot, feed: FeedId, { licences, plans }: AvailabilityDeps): Reason {
  const licensed = feeds[feed].needs.some((source) => licences.may(source, false, 'paid'))
  if (status === 'not_licensed' || !licensed)
    return {
      why: 'no_licence',
      detail: `This node holds no licence to sell ${feed}.`,
      extra: { left_out: leftOut.map(({ source, reason }) => ({ source, reason })) },
    }
  const missing = feeds[feed].needs.map((source) => ({
    source,
    why: plans.some((plan) => plan.source === source) ? 'nothing has come yet' : 'not fetched by this node',
  }))
  return { why: 'no_data', detail: `No data for ${feed} have come in yet.`, extra: { missing } }
}
