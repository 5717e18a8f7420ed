import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import type { Database } from '../../store/database.ts'
import { feeds } from '../feeds/catalogue.ts'
import { type FeedId, feedIds } from '../feeds/feed.ts'
import type { LicenceGate, Variant } from '../licences/gate.ts'
import type { SymbolBook } from '../store/symbol-book.ts'
import type { FileShelf } from '../world/file-shelf.ts'
import { loadWorld } from '../world/load-world.ts'
import type { World } from '../world/world.ts'
import { buildSnapshot } from './build-snapshot.ts'
import type { NoSnapshot, Snapshot } from './snapshot.ts'
import { noteSnapshot } from './store-snapshot.ts'

export type KeeperDeps = {
  database: Database
  clock: Clock
  log: Log
  shelf: FileShelf
  symbols: SymbolBook
  gate: LicenceGate
  delayMs: number
}

/** Snapshots ready to be served, in memory: rows of truth are in the database, this can be made again at any time. */
export type SnapshotKeeper = {
  /** The newest of a feed; `delayed` is what was public the delay ago. */
  current(feed: FeedId, tier: 'live' | 'vip' | 'delayed'): Snapshot | NoSnapshot
  /** What would have been served at a moment. */
  at(feed: FeedId, variant: Variant, atMs: number): Promise<Snapshot | NoSnapshot>
  /** A snapshot of the last time, by hash: for the next page of a pull. */
  recent(sha256: string): Snapshot | undefined
  /** Looks for new files and makes what they change. */
  refresh(): Promise<void>
  onNew(listener: (feed: FeedId, snapshot: Snapshot) => void): () => void
}

const noData: NoSnapshot = { status: 'no_data', leftOut: [] }
const recentMax = 48
const pastMax = 12

export const isSnapshot = (found: Snapshot | NoSnapshot): found is Snapshot => 'bytes' in found

type Shelved = { knownAtMs: number | undefined; byFeed: Map<FeedId, Snapshot | NoSnapshot> }

export function createSnapshotKeeper(deps: KeeperDeps): SnapshotKeeper {
  const shelves: Record<'paid' | 'delayed', Shelved> = {
    paid: { knownAtMs: undefined, byFeed: new Map() },
    delayed: { knownAtMs: undefined, byFeed: new Map() },
  }
  const recent = new Map<string, Snapshot>()
  const past = new Map<string, Promise<Snapshot | NoSnapshot>>()
  const listeners = new Set<(feed: FeedId, snapshot: Snapshot) => void>()
  let fileCount = 0
  let running: Promise<void> | undefined

  const breathe = () => deps.clock.sleep(0)

  const keepRecent = (snapshot: Snapshot) => {
    recent.delete(snapshot.sha256)
    recent.set(snapshot.sha256, snapshot)
    for (const key of recent.keys()) {
      if (recent.size <= recentMax) break
      recent.delete(key)
    }
  }

  const fill = async (
    shelf: Shelved,
    variant: Variant,
    {
      knownAtMs,
      world,
      tell,
      twin,
    }: { knownAtMs: number; world: World; tell: boolean; twin: Shelved['byFeed'] | undefined },
  ) => {
    for (const id of feedIds) {
      const built = twin?.get(id) ?? (await buildSnapshot(world, feeds[id], deps.gate, variant, breathe))
      const before = shelf.byFeed.get(id)
      shelf.byFeed.set(id, built)
      if (isSnapshot(built)) {
        keepRecent(built)
        const changed = before === undefined || !isSnapshot(before) || before.sha256 !== built.sha256
        if (changed) await noteSnapshot(deps.database, built, { variant, knownAtMs, madeAtMs: deps.clock.nowMs() })
        if (changed && tell) for (const listener of listeners) listener(id, built)
      }
    }
    shelf.knownAtMs = knownAtMs
  }

  const refresh = async () => {
    await deps.shelf.refresh(deps.database)
    const grown = deps.shelf.all().length !== fileCount
    const nowMs = deps.clock.nowMs()
    const wanted = [
      { shelf: shelves.paid, variant: 'paid' as const, atMs: nowMs, tell: true },
      { shelf: shelves.delayed, variant: 'free' as const, atMs: nowMs - deps.delayMs, tell: false },
    ]
    let last: { knownAtMs: number; world: World } | undefined
    for (const { shelf, variant, atMs, tell } of wanted) {
      const knownAtMs = deps.shelf.lastChange(atMs)
      // Files may come in late for a time long past, so a count that grew also counts as news.
      if (knownAtMs === undefined || (knownAtMs === shelf.knownAtMs && !grown)) continue
      if (last?.knownAtMs !== knownAtMs) last = { knownAtMs, world: await worldAt(knownAtMs) }
      const twin =
        shelf === shelves.delayed && shelves.paid.knownAtMs === knownAtMs && sameRights(last.world)
          ? shelves.paid.byFeed
          : undefined
      await fill(shelf, variant, { knownAtMs, world: last.world, tell, twin })
    }
    if (grown) past.clear()
    fileCount = deps.shelf.all().length
  }

  /** Where everything that may be shown may also be sold, both tiers have the same bytes. */
  const sameRights = (world: World) =>
    world.origins.every(
      ({ source, synthetic }) => deps.gate.may(source, synthetic, 'free') === deps.gate.may(source, synthetic, 'paid'),
    )

  const worldAt = (knownAtMs: number) =>
    loadWorld({ sql: deps.database, shelf: deps.shelf, symbols: deps.symbols }, knownAtMs)

  const inPast = async (feed: FeedId, variant: Variant, knownAtMs: number) => {
    const built = await buildSnapshot(await worldAt(knownAtMs), feeds[feed], deps.gate, variant, breathe)
    if (isSnapshot(built)) keepRecent(built)
    return built
  }

  return {
    current: (feed, tier) => (tier === 'delayed' ? shelves.delayed : shelves.paid).byFeed.get(feed) ?? noData,
    recent: (sha256) => recent.get(sha256),
    at: (feed, variant, atMs) => {
      const knownAtMs = deps.shelf.lastChange(Math.min(atMs, deps.clock.nowMs()))
      if (knownAtMs === undefined) return Promise.resolve(noData)
      const key = `${feed} ${variant} ${knownAtMs}`
      const known = past.get(key)
      if (known) return known
      const making = inPast(feed, variant, knownAtMs)
      past.set(key, making)
      making.catch(() => past.delete(key))
      for (const old of past.keys()) {
        if (past.size <= pastMax) break
        past.delete(old)
      }
      return making
    },
    refresh: () => {
      running ??= refresh().finally(() => {
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
