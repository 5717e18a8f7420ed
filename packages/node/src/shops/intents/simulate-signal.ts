import type { Rng } from '@assay/till/kernel/random'
import type { ClusterNode } from './clusters.ts'
import type { Cell } from './count-demand.ts'
import { publishable, type Topics } from './noise.ts'
import { accuracyOf, choosePlan, type Plan, promisedError, type SeenTraffic } from './plan.ts'
import type { IntentSettings } from './settings.ts'

export type SimulatedDay = {
  agents: number
  plan: Plan
  /** Topics shown in a bucket, on average. */
  figures: number
  /** 95 % error as a part of the published demand: what the promise is about. Null where nothing is shown. */
  error: number | null
  /** Published figures whose error bar holds the truth. */
  covered: number | null
  sold: boolean
}

const dayMs = 86_400_000
/** An agent searches so often a day, at any time of it. */
const searchesPerAgent = 3
/** Four in five agents have a bond. */
const bondedShare = 0.8
/** Days until the plan has found its place. */
const settlingDays = 4
/** Buckets that a decision is based on: of a day, or of several where buckets are long. */
const [bucketsMin, bucketsMax] = [8, 24]

/**
 * What a day of so many agents would be worth, with the real plan, noise and rules. The interest in topics falls with
 * their rank: the second has half of the first, the third a third.
 */
export function simulateDay(rng: Rng, settings: IntentSettings, topics: Topics, agents: number): SimulatedDay {
  let plan = settings.fixedPlan ?? choosePlan(settings, undefined)
  for (let day = 0; day < settlingDays && !settings.fixedPlan; day += 1)
    plan = choosePlan(settings, seenOf(rng, settings, topics, plan, agents))
  const truth = truthOf(topics, plan, agents)
  const { demandError } = accuracyOf(settings, plan)
  const buckets = Math.max(bucketsMin, Math.min(bucketsMax, Math.round(dayMs / plan.bucketMs)))
  const sums = { figures: 0, demand: 0, error: 0, covered: 0 }
  for (let at = 0; at < buckets; at += 1)
    for (const { cluster, demand } of publishable(rng, settings, plan, topics, truth)) {
      const cell = truth.get(cluster)
      sums.figures += 1
      sums.demand += demand
      sums.error += demandError
      if (Math.abs(demand - (cell?.bonded ?? 0) - (cell?.others ?? 0)) <= demandError) sums.covered += 1
    }
  const error = sums.demand > 0 ? sums.error / sums.demand : null
  return {
    agents,
    plan,
    figures: sums.figures / buckets,
    error,
    covered: sums.figures > 0 ? sums.covered / sums.figures : null,
    sold: error !== null && error <= promisedError,
  }
}

function seenOf(
  rng: Rng,
  settings: IntentSettings,
  topics: Topics,
  plan: Plan,
  agents: number,
): SeenTraffic | undefined {
  const roots = new Set(topics.childrenOf(null).map(({ id }) => id))
  const shown = publishable(rng, settings, plan, topics, truthOf(topics, plan, agents))
  const demands = shown.filter(({ cluster }) => roots.has(cluster)).map(({ demand }) => demand)
  return demands.length === 0 ? undefined : { bucketMs: plan.bucketMs, demands }
}

/** Exact counts of one bucket. */
function truthOf(topics: Topics, plan: Plan, agents: number): Map<string, Cell> {
  const present = agents * (1 - (1 - Math.min(1, plan.bucketMs / dayMs)) ** searchesPerAgent)
  const cells = new Map<string, Cell>()
  const share = (nodes: readonly ClusterNode[], count: number, tier: number) => {
    const whole = nodes.reduce((sum, _, rank) => sum + 1 / (rank + 1), 0)
    for (const [rank, { id }] of nodes.entries()) {
      const own = Math.floor(count / (rank + 1) / whole)
      if (own === 0) continue
      const bonded = Math.round(own * bondedShare)
      cells.set(id, { bonded, others: own - bonded, words: new Map() })
      if (tier < plan.tiers) share(topics.childrenOf(id), own, tier + 1)
    }
  }
  share(topics.childrenOf(null), present, 1)
  return cells
}
