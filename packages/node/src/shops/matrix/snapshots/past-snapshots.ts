import { feeds, feedUnder } from '../feeds/catalogue.ts'
import type { Feed, FeedId } from '../feeds/feed.ts'
import type { Variant } from '../licences/gate.ts'
import type { ScoreMethodName } from '../score/method.ts'
import type { MakerDeps, SnapshotMaker } from './make-snapshot.ts'
import type { NoSnapshot, Snapshot } from './snapshot.ts'
import { type SnapshotInputs, snapshotInputs } from './snapshot-inputs.ts'

const heldMax = 6

/** Snapshots of moments gone by, made when somebody asks; who asks for the same moment meanwhile waits for the same one. */
export function createPastSnapshots(deps: MakerDeps, maker: SnapshotMaker) {
  const held = new Map<string, Promise<Snapshot | NoSnapshot>>()
  const make = async (feed: Feed, variant: Variant, inputs: SnapshotInputs) =>
    // Not kept for the next start: anyone who asks for the past must not push out what everybody asks for.
    (await maker.find(inputs)) ?? maker.make(feed, variant, inputs, { worlds: new Map(), keep: false })
  const at = (id: FeedId, variant: Variant, atMs: number, method?: ScoreMethodName): Promise<Snapshot | NoSnapshot> => {
    const feed = method === undefined ? feeds[id] : feedUnder(id, method)
    const knownByMs = Math.min(atMs, deps.clock.nowMs())
    const inputs = snapshotInputs(deps.fileCache, deps.gate, feed, variant, knownByMs)
    if ('status' in inputs) return Promise.resolve(inputs)
    const known = held.get(inputs.key)
    if (known) return known
    const making = make(feed, variant, inputs)
    held.set(inputs.key, making)
    making.catch(() => held.delete(inputs.key))
    for (const old of held.keys()) {
      if (held.size <= heldMax) break
      held.delete(old)
    }
    return making
  }
  return { at }
}
