import { feeds } from '../feeds/catalogue.ts'
import { type FeedId, feedIds } from '../feeds/feed.ts'
import type { Variant } from '../licences/licence-policy.ts'
import type { ScoreMethodName } from '../score/method.ts'
import { findStaleSnapshot } from './kept-snapshots.ts'
import { type AsOfViews, createSnapshotMaker, isSnapshot, type MakerDeps } from './make-snapshot.ts'
import { createPastSnapshots } from './past-snapshots.ts'
import { createRecentSnapshots } from './recent-snapshots.ts'
import type { NoSnapshot, Snapshot } from './snapshot.ts'
import { type SnapshotInputs, snapshotInputs } from './snapshot-inputs.ts'
import { recordSnapshot } from './store-snapshot.ts'

export { isSnapshot } from './make-snapshot.ts'

export type SnapshotCacheDeps = MakerDeps & { delayMs: number }

/** Snapshots ready to be served, in memory: rows of truth are in the database, these can be made again at any time. */
export type SnapshotCache = {
  /** The newest of a feed; `delayed` is what was public the delay ago. */
  current(feed: FeedId, tier: 'live' | 'vip' | 'delayed'): Snapshot | NoSnapshot
  /** What would have been served at a moment; under an earlier method of the score where one is named. */
  at(feed: FeedId, variant: Variant, atMs: number, method?: ScoreMethodName): Promise<Snapshot | NoSnapshot>
  /** For one use, of what is sold: nothing holds it afterwards. */
  once(feed: FeedId, inputs: SnapshotInputs, views: AsOfViews): Promise<Snapshot | NoSnapshot>
  /** A snapshot of the last time, by hash: for the next page of a pull. */
  recent(sha256: string): Snapshot | undefined
  /**
   * LastFetches for new files and makes what they change. With `staleSnapshots`, what was kept before is taken where it will do, and
   * what is newer is left to the next call: a start does not wait for it.
   */
  refresh(options?: { staleSnapshots?: boolean }): Promise<void>
  onNew(listener: (feed: FeedId, snapshot: Snapshot) => void): () => void
}

const noData: NoSnapshot = { status: 'no_data', leftOut: [] }

/** What a tier shows of a feed, and what it is made of; without a key something newer is still to be made. */
type Place = { key: string | undefined; shown: Snapshot | NoSnapshot }
type Tier = {
  name: 'paid' | 'delayed'
  variant: Variant
  places: Map<FeedId, Place>
  atMs(): number
  /** Which files its snapshots were last made of. */
  basis?: string
}
type Missing = { feed: FeedId; inputs: SnapshotInputs }

export function createSnapshotCache(deps: SnapshotCacheDeps): SnapshotCache {
  const recent = createRecentSnapshots()
  const maker = createSnapshotMaker(deps, recent)
  const past = createPastSnapshots(deps, maker)
  const listeners = new Set<(feed: FeedId, snapshot: Snapshot) => void>()
  const paid: Tier = { name: 'paid', variant: 'paid', places: new Map(), atMs: () => deps.clock.nowMs() }
  const delayed: Tier = {
    name: 'delayed',
    variant: 'free',
    places: new Map(),
    atMs: () => deps.clock.nowMs() - deps.delayMs,
  }
  let running: Promise<void> | undefined

  const show = async (tier: Tier, feed: FeedId, place: Place, knownAtMs: number) => {
    const before = tier.places.get(feed)
    tier.places.set(feed, place)
    const { shown } = place
    if (!isSnapshot(shown)) return
    if (before && isSnapshot(before.shown) && before.shown.sha256 === shown.sha256) return
    await recordSnapshot(deps.database, shown, { variant: tier.variant, knownAtMs, madeAtMs: deps.clock.nowMs() })
    if (tier === paid) for (const listener of listeners) listener(feed, shown)
  }

  /** Shows what was made before, and says what has to be made. */
  const lookUp = async (
    { tier, atMs }: { tier: Tier; atMs: number },
    feed: FeedId,
    staleSnapshots: boolean,
  ): Promise<Missing | undefined> => {
    const inputs = snapshotInputs(deps.fileCache, deps.licences, feeds[feed], tier.variant, atMs)
    if ('status' in inputs) {
      tier.places.set(feed, { key: undefined, shown: inputs })
      return undefined
    }
    const { key, rules, knownAtMs } = inputs
    if (tier.places.get(feed)?.key === key) return undefined
    const found = await maker.find(inputs)
    if (found) {
      await show(tier, feed, { key, shown: found }, knownAtMs)
      return undefined
    }
    const staleSnapshot = staleSnapshots ? await findStaleSnapshot(deps.database, feed, rules, atMs) : undefined
    if (!staleSnapshot) return { feed, inputs }
    recent.put(staleSnapshot)
    tier.places.set(feed, { key: undefined, shown: staleSnapshot })
    return undefined
  }

  const refresh = async (staleSnapshots: boolean) => {
    await deps.fileCache.refresh(deps.database)
    const views: AsOfViews = new Map()
    for (const tier of [paid, delayed]) {
      const atMs = tier.atMs()
      const basis = `${deps.fileCache.all().length} ${deps.fileCache.lastChange(atMs)}`
      if (tier.basis === basis) continue
      const looked = await Promise.all(feedIds.map((feed) => lookUp({ tier, atMs }, feed, staleSnapshots)))
      for (const missing of looked) {
        if (!missing) continue
        const { feed, inputs } = missing
        const shown = await maker.make(feeds[feed], tier.variant, inputs, { views, keep: true })
        await show(tier, feed, { key: inputs.key, shown }, inputs.knownAtMs)
      }
      if (!staleSnapshots) tier.basis = basis
    }
  }

  /** What is shown is held in any case, however many have come since. */
  const shownNow = (sha256: string) =>
    [paid, delayed]
      .flatMap(({ places }) => [...places.values()])
      .map(({ shown }) => shown)
      .filter(isSnapshot)
      .find((shown) => shown.sha256 === sha256)

  return {
    current: (feed, tier) => (tier === 'delayed' ? delayed : paid).places.get(feed)?.shown ?? noData,
    recent: (sha256) => recent.bySha256(sha256) ?? shownNow(sha256),
    at: past.at,
    once: (feed, inputs, views) => maker.make(feeds[feed], 'paid', inputs, { views, keep: false, hold: false }),
    refresh: ({ staleSnapshots = false } = {}) => {
      running ??= refresh(staleSnapshots).finally(() => {
        running = undefined
      })
      return running
    },
    onNew: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
