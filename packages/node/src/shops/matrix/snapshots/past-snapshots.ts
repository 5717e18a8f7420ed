import { Problem } from '@assay/till/kernel/problem'
import { feeds, feedUnder } from '../feeds/catalogue.ts'
import type { Feed, FeedId } from '../feeds/feed.ts'
import type { Variant } from '../licences/licence-policy.ts'
import type { ScoreMethodName } from '../score/method.ts'
import type { MakerDeps, SnapshotMaker } from './make-snapshot.ts'
import type { NoSnapshot, Snapshot } from './snapshot.ts'
import { type SnapshotInputs, snapshotInputs } from './snapshot-inputs.ts'

const heldMax = 6
/** Each takes the thread for about a second, so few are made at once; free callers never keep paying ones waiting. */
const placesOf: Record<Variant, { atOnce: number; waitingMax: number }> = {
  free: { atOnce: 1, waitingMax: 4 },
  paid: { atOnce: 2, waitingMax: 16 },
}

/** Snapshots of moments gone by, made when somebody asks; who asks for the same moment meanwhile waits for the same one. */
export function createPastSnapshots(deps: MakerDeps, maker: SnapshotMaker) {
  const held = new Map<string, Promise<Snapshot | NoSnapshot>>()
  const lines = { free: createLine(placesOf.free), paid: createLine(placesOf.paid) }
  const make = async (feed: Feed, variant: Variant, inputs: SnapshotInputs) =>
    (await maker.find(inputs)) ??
    // Not kept for the next start: requests for the past must not evict what everybody asks for.
    lines[variant](() => maker.make(feed, variant, inputs, { views: new Map(), keep: false }))
  const at = (id: FeedId, variant: Variant, atMs: number, method?: ScoreMethodName): Promise<Snapshot | NoSnapshot> => {
    const feed = method === undefined ? feeds[id] : feedUnder(id, method)
    const knownByMs = Math.min(atMs, deps.clock.nowMs())
    const inputs = snapshotInputs(deps.fileCache, deps.licences, feed, variant, knownByMs)
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

/** Runs so many at once, keeps some waiting, and refuses the rest. */
function createLine({ atOnce, waitingMax }: { atOnce: number; waitingMax: number }) {
  const waiting: (() => void)[] = []
  let running = 0
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) {
      if (waiting.length >= waitingMax)
        throw new Problem('rate_limited', {
          detail: 'Too many different past moments are being asked for.',
          retryAfterSeconds: 5,
        })
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else running += 1
    try {
      return await work()
    } finally {
      // The place goes to the next one in line, if there is one.
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
