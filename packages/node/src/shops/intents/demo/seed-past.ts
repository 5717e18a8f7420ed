import { graceMs } from '../close-bucket.ts'
import type { IntentDeps } from '../deps.ts'
import { uniformBelow } from '../discrete-laplace.ts'
import type { NoisyCell } from '../noise.ts'
import { widest } from '../plan.ts'
import {
  closerOf,
  type IntentEvent,
  lastBucketEndMs,
  lockIntents,
  newestOf,
  newestSeq,
  publishEvents,
} from '../store.ts'
import { type Before, bucketEvent, type Span, tickEvent } from '../tick-event.ts'
import { popularity, type Theme, themes } from './themes.ts'

/** A day, and the hour of the free sample. */
const pastMs = 26 * 3_600_000
const stepMs = 15 * 60_000
/** Enough that every theme is published at its least popular. */
const least = 8
const spread = 20

/**
 * A demo node begins with a day of invented demand, said to be so, and fills what it slept through. It is signed and
 * logged as the rest, in one statement.
 */
export async function seedPast(deps: IntentDeps): Promise<void> {
  const plan = deps.settings.fixedPlan ?? widest
  const { bucketMs } = plan
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
      const span = { startsAtMs, endsAtMs, synthetic: true, plan }
      let totalDemand = 0
      for (const cell of inventCells(deps, clusters, endsAtMs)) {
        seq += 1
        events.push(seededTick(deps, seq, span, cell, before))
        if (deps.clusterTable.byId.get(cell.cluster)?.tier === 1) totalDemand += cell.demand
      }
      seq += 1
      const closing = {
        publishedCells: clusters.size,
        totalDemand,
        withheld: null,
        spentMicro: 0n,
        skippedFromMs: null,
      }
      events.push(closerOf(span, seq, bucketEvent(deps, { seq, span, publishedAtMs: endsAtMs }, closing)))
      startsAtMs = endsAtMs
    }
    await publishEvents(tx, events, nowMs)
  })
}

/** Each theme's topic and all above it, with the themes that count for it. */
function seededClusters({ clusterTable }: IntentDeps): Map<string, Theme[]> {
  const clusters = new Map<string, Theme[]>()
  for (const theme of themes) {
    const node = clusterTable.byId.get(theme.cluster)
    for (const id of node ? [node.id, ...node.ancestors] : []) clusters.set(id, [...(clusters.get(id) ?? []), theme])
  }
  return clusters
}

/** Each theme has so many agents; they count for its topic and for all above it. */
function inventCells(deps: IntentDeps, clusters: ReadonlyMap<string, readonly Theme[]>, atMs: number): NoisyCell[] {
  const wobble = () => Number(uniformBelow(deps.rng, 5n)) - 2
  const agents = new Map(
    themes.map((theme) => {
      const demand = Math.round(least + spread * popularity(theme, atMs) * 0.5) + wobble()
      return [theme, { demand, bonded: demand - 1 - Number(uniformBelow(deps.rng, 3n)) }] as const
    }),
  )
  return [...clusters].map(([cluster, counted]) => {
    const sum = (part: 'demand' | 'bonded') => counted.reduce((all, theme) => all + (agents.get(theme)?.[part] ?? 0), 0)
    return { cluster, demand: sum('demand'), bonded: sum('bonded'), words: [] }
  })
}

function seededTick(
  deps: IntentDeps,
  seq: number,
  span: Span,
  cell: NoisyCell,
  before: Map<string, Before>,
): IntentEvent {
  const tick = tickEvent(deps, { seq, span, publishedAtMs: span.endsAtMs }, cell, before.get(cell.cluster))
  before.set(cell.cluster, { demand: cell.demand, ewma: tick.ewma, endsAtMs: span.endsAtMs, words: new Map() })
  return { ...span, seq, ...tick }
}
