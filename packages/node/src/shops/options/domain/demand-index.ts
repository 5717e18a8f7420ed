/**
 * The index of a topic cluster, from published figures alone. It uses nothing but addition, multiplication and division of
 * doubles in a fixed order, so that everyone who computes it gets the same digits.
 */
export type IndexMethod = {
  /** Ticks are on a grid of this distance, counted from 1970. */
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
  /** Share of the demand of all clusters, in 10^-12. */
  shareE12: number
  /** Agents behind this point; null where too few were seen to publish them. */
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
  const spoken = new Array<boolean>(lookback).fill(false)
  for (const { cluster, startsAtMs, endsAtMs, bonded } of inputs) {
    const first = Math.max(0, Math.ceil((atMs - endsAtMs) / tickMs))
    const behind = Math.min(lookback, Math.ceil((atMs - startsAtMs) / tickMs))
    if (first >= behind) continue
    const sum = sums.get(cluster) ?? { weighted: 0, agents: null }
    sums.set(cluster, sum)
    if (first === 0) sum.agents = bonded
    const level = Math.max(bonded ?? 0, 0)
    for (let age = first; age < behind; age += 1) {
      spoken[age] = true
      sum.weighted += (weights[age] as number) * level
    }
  }
  // A topic that is not published counts as none: one that was there for an hour must not count for two days.
  let weight = 0
  for (let age = 0; age < lookback; age += 1) if (spoken[age]) weight += weights[age] as number
  return spoken[0] ? toTicks(sums, weight, atMs) : []
}

type Sum = { weighted: number; agents: number | null }

function toTicks(sums: ReadonlyMap<string, Sum>, weight: number, atMs: number): IndexTick[] {
  const levels = [...sums]
    .filter(([, sum]) => sum.weighted > 0)
    .map(([cluster, sum]) => ({ cluster, level: sum.weighted / weight, agents: sum.agents }))
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
