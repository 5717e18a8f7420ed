/**
 * The index of a topic cluster, from published figures alone. It uses nothing but addition, multiplication, division and
 * square roots of doubles in a fixed order, so that everyone who computes it gets the same digits.
 */
export type IndexMethod = {
  /** Ticks stand on a grid of this distance, counted from 1970. */
  tickMs: number
  /** Weight of what is one tick older, in parts per billion: 2^(-tick / half-life), rounded. */
  decayPpb: number
  /** Points of the grid that a tick looks back on, itself included. */
  lookback: number
}

/** A published bucket. It speaks for every point of the grid later than its start and not later than its end. */
export type IndexInput = { cluster: string; startsAtMs: number; endsAtMs: number; bonded: number | null }

export type IndexTick = {
  cluster: string
  atMs: number
  /** Of the demand of all clusters, in 10^-12. */
  shareE12: number
  /** Agents behind this very point; null where too few were seen to publish them. */
  agents: number | null
}

/** Eight half-lives leave less than half a percent of the weight outside. */
const halfLivesBack = 8

export function indexMethod(tickMs: number, halfLifeMs: number): IndexMethod {
  return {
    tickMs,
    decayPpb: Math.round(2 ** (-tickMs / halfLifeMs) * 1e9),
    lookback: Math.max(1, Math.ceil((halfLivesBack * halfLifeMs) / tickMs)),
  }
}

/** Damped, so that a crowd which comes at once moves it by the square root of its size. */
const damped = (bonded: number): number => Math.round(Math.sqrt(Math.max(bonded, 0)) * 1e6)

/**
 * Shares of demand at a point of the grid, of all clusters that were seen in the lookback, ordered by cluster. Inputs come
 * oldest first. Empty when no bucket speaks for this point.
 */
export function sharesAt(method: IndexMethod, inputs: readonly IndexInput[], atMs: number): IndexTick[] {
  const { tickMs, lookback } = method
  const decay = method.decayPpb / 1e9
  const weights: number[] = []
  for (let age = 0, weight = 1; age < lookback; age += 1, weight *= decay) weights.push(weight)
  const sums = new Map<string, Sum>()
  let isCovered = false
  for (const { cluster, startsAtMs, endsAtMs, bonded } of inputs) {
    const first = Math.max(0, Math.ceil((atMs - endsAtMs) / tickMs))
    const behind = Math.min(lookback, Math.ceil((atMs - startsAtMs) / tickMs))
    if (first >= behind) continue
    const sum = sums.get(cluster) ?? { weighted: 0, weight: 0, agents: null }
    sums.set(cluster, sum)
    if (first === 0) {
      sum.agents = bonded
      isCovered = true
    }
    // An unpublished cell says nothing, and counts for nothing: not as demand, and not as its absence.
    if (bonded === null) continue
    const level = damped(bonded)
    for (let age = first; age < behind; age += 1) {
      const weight = weights[age] as number
      sum.weighted += weight * level
      sum.weight += weight
    }
  }
  return isCovered ? toTicks(sums, atMs) : []
}

type Sum = { weighted: number; weight: number; agents: number | null }

function toTicks(sums: ReadonlyMap<string, Sum>, atMs: number): IndexTick[] {
  const levels = [...sums]
    .filter(([, sum]) => sum.weight > 0)
    .map(([cluster, sum]) => ({ cluster, level: sum.weighted / sum.weight, agents: sum.agents }))
    .sort((a, b) => (a.cluster < b.cluster ? -1 : 1))
  let total = 0
  for (const { level } of levels) total += level
  if (total === 0) return []
  return levels.map(({ cluster, level, agents }) => ({
    cluster,
    atMs,
    shareE12: Math.round((level / total) * 1e12),
    agents,
  }))
}

/** `100 * share / base share` in ten-thousandths of a point. */
export function indexValueE4(shareE12: number, baseShareE12: number): bigint {
  if (baseShareE12 <= 0) throw new RangeError('an index needs a base share')
  return (BigInt(shareE12) * 1_000_000n + BigInt(baseShareE12) / 2n) / BigInt(baseShareE12)
}
