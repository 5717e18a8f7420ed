import { graceMs } from '../close-bucket.ts'
import type { IntentDeps } from '../deps.ts'
import { uniformBelow } from '../discrete-laplace.ts'
import type { NoisyCell } from '../privacy.ts'
import { type IntentEvent, lastBucketEndMs, lockIntents, newestOf, newestSeq, publishEvents } from '../store.ts'
import { type Before, bucketEvent, type Span, tickEvent } from '../tick-event.ts'
import { popularity, themes } from './themes.ts'

/** A day, and the hour of the free sample. */
const pastMs = 26 * 3_600_000
const stepMs = 15 * 60_000
/** Fewer agents than these would not be published at all. */
const least = 12
const spread = 20

/**
 * A demo node begins with a day of invented demand, said to be so, and fills what it slept through. It is signed and
 * logged as the rest, in one statement.
 */
export async function seedPast(deps: IntentDeps): Promise<void> {
  const { bucketMs } = deps.settings
  await deps.database.transaction(async (tx) => {
    await lockIntents(tx)
    const nowMs = deps.clock.nowMs()
    const untilMs = Math.floor((nowMs - graceMs) / bucketMs) * bucketMs
    const lastMs = (await lastBucketEndMs(tx)) ?? 0
    const fromMs = Math.max(lastMs, Math.floor((untilMs - pastMs) / stepMs) * stepMs)
    if (untilMs - fromMs < stepMs) return
    const clusters = seededClusters(deps)
    const before = await newestOf(tx, [...clusters.keys()])
    const events: IntentEvent[] = []
    let seq = await newestSeq(tx)
    for (let startsAtMs = fromMs; startsAtMs < untilMs; ) {
      const endsAtMs = Math.min((Math.floor(startsAtMs / stepMs) + 1) * stepMs, untilMs)
      const span = { startsAtMs, endsAtMs, synthetic: true }
      for (const [cluster, weights] of clusters) {
        seq += 1
        events.push(seededTick(deps, seq, span, inventCell(deps, cluster, weights, endsAtMs), before))
      }
      seq += 1
      const closing = { publishedCells: clusters.size, withheld: null, spentMicro: 0n, skippedFromMs: null }
      const event = bucketEvent(deps, seq, span, closing, endsAtMs)
      events.push({ ...span, seq, cluster: null, demand: null, bonded: null, ewma: null, event })
      startsAtMs = endsAtMs
    }
    await publishEvents(tx, events, nowMs)
  })
}

/** Each theme's topic and all above it, with the themes that count for it. */
function seededClusters({ book }: IntentDeps): Map<string, (typeof themes)[number][]> {
  const clusters = new Map<string, (typeof themes)[number][]>()
  for (const theme of themes) {
    const node = book.byId.get(theme.cluster)
    for (const id of node ? [node.id, ...node.ancestors] : []) clusters.set(id, [...(clusters.get(id) ?? []), theme])
  }
  return clusters
}

function inventCell(
  deps: IntentDeps,
  cluster: string,
  counted: readonly (typeof themes)[number][],
  atMs: number,
): NoisyCell {
  const interest = Math.max(...counted.map((theme) => popularity(theme, atMs)))
  const wobble = () => Number(uniformBelow(deps.rng, 5n)) - 2
  const demand = Math.max(deps.settings.k, Math.round(least + spread * interest * 0.5) + wobble())
  const bonded = Math.max(deps.settings.k, demand - 2 + wobble())
  return { cluster, demand, bonded, words: [] }
}

function seededTick(
  deps: IntentDeps,
  seq: number,
  span: Span,
  cell: NoisyCell,
  before: Map<string, Before>,
): IntentEvent {
  const { event, ewma } = tickEvent(deps, seq, span, cell, before.get(cell.cluster), span.endsAtMs)
  before.set(cell.cluster, { demand: cell.demand, ewma, endsAtMs: span.endsAtMs, words: new Map() })
  return { ...span, seq, cluster: cell.cluster, demand: cell.demand, bonded: cell.bonded, ewma, event }
}
