import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Database } from '@assay/till/store/database'
import type { AsOfView } from '../as-of/as-of-view.ts'
import type { FileCache } from '../as-of/file-cache.ts'
import { loadAsOfView } from '../as-of/load-view.ts'
import type { Feed } from '../feeds/feed.ts'
import { feedSources } from '../feeds/feed-sources.ts'
import type { LicencePolicy, Variant } from '../licences/licence-policy.ts'
import type { SymbolTable } from '../store/symbol-table.ts'
import { buildSnapshot } from './build-snapshot.ts'
import { findKept, keepSnapshot } from './kept-snapshots.ts'
import type { RecentSnapshots } from './recent-snapshots.ts'
import type { NoSnapshot, Snapshot } from './snapshot.ts'
import type { SnapshotInputs } from './snapshot-inputs.ts'

export type MakerDeps = {
  database: Database
  clock: Clock
  log: Log
  fileCache: FileCache
  symbols: SymbolTable
  licences: LicencePolicy
}

export const isSnapshot = (found: Snapshot | NoSnapshot): found is Snapshot => 'bytes' in found

/** AsOfViews of one round: the three rankings are made of the same one. */
export type AsOfViews = Map<string, Promise<AsOfView>>

export type SnapshotMaker = {
  /** Made before, here or by another process. */
  find(inputs: SnapshotInputs): Promise<Snapshot | undefined>
  make(
    feed: Feed,
    variant: Variant,
    inputs: SnapshotInputs,
    options: { views: AsOfViews; keep: boolean; hold?: boolean },
  ): Promise<Snapshot | NoSnapshot>
}

export function createSnapshotMaker(deps: MakerDeps, recent: RecentSnapshots): SnapshotMaker {
  const yieldToEventLoop = () => deps.clock.sleep(0)
  const viewOf = (feed: Feed, knownAtMs: number, views: AsOfViews) => {
    const sources = feedSources(feed)
    const name = `${knownAtMs} ${[...sources].sort().join()}`
    const known = views.get(name)
    if (known) return known
    // One at a time: each holds a few dozen columns of every symbol.
    views.clear()
    const loading = loadAsOfView(
      { sql: deps.database, fileCache: deps.fileCache, symbols: deps.symbols },
      knownAtMs,
      sources,
    )
    views.set(name, loading)
    return loading
  }
  return {
    find: async (inputs) => {
      const held = recent.byKey(inputs.key)
      if (held) return held
      const kept = await findKept(deps.database, inputs.key)
      if (kept) recent.put(kept, inputs.key)
      return kept
    },
    make: async (feed, variant, inputs, { views, keep, hold = true }) => {
      const view = await viewOf(feed, inputs.knownAtMs, views)
      const built = await buildSnapshot(view, feed, deps.licences, variant, yieldToEventLoop)
      if (!isSnapshot(built)) return built
      if (hold) recent.put(built, inputs.key)
      if (!keep) return built
      await keepSnapshot(deps.database, built, inputs, deps.clock.nowMs()).catch((error: unknown) =>
        // It is served all the same; the next start makes it again.
        deps.log.warn({ feed: feed.id, error: String(error) }, 'a snapshot could not be kept'),
      )
      return built
    },
  }
}
