import { catalystPointsMax, type FactorRule, usableWeightMin } from './method.ts'
import { percentiles } from './percentiles.ts'

export type Factor = { rule: FactorRule; values: Float64Array }

export type ScoredUniverse = {
  /** NaN where nothing can be said. */
  score: Float64Array
  /** Share of the full weight behind the score, percent. */
  coverage: Float64Array
  /** By factor, in the order given. */
  percentiles: readonly Float64Array[]
  /** Points each factor gave, in the order given; they and the catalysts add up to the score. */
  points: readonly Float64Array[]
  /** By rank: best first, ties by symbol order. */
  ranking: Int32Array
}

/** Percentile by factor, weighted; what is missing hands its weight to the rest, and coverage says how much that was. */
export function scoreUniverse(input: {
  takesPart: Uint8Array
  factors: readonly Factor[]
  catalysts: Float64Array
}): ScoredUniverse {
  const { takesPart, factors, catalysts } = input
  const size = takesPart.length
  const usableWeight = factors.reduce((sum, { rule }) => sum + rule.weight, 0)
  const ranks = factors.map(({ rule, values }) => oriented(percentiles(values, takesPart), rule))
  const score = new Float64Array(size).fill(Number.NaN)
  const coverage = new Float64Array(size)
  const points = factors.map(() => new Float64Array(size).fill(Number.NaN))
  const ranked: number[] = []
  for (let i = 0; i < size; i += 1) {
    if (takesPart[i] !== 1) continue
    let weight = 0
    for (let f = 0; f < factors.length; f += 1)
      if (!Number.isNaN((ranks[f] as Float64Array)[i] as number)) weight += (factors[f] as Factor).rule.weight
    coverage[i] = weight
    if (weight === 0 || weight < usableWeight * usableWeightMin) continue
    let sum = 0
    for (let f = 0; f < factors.length; f += 1) {
      const rank = (ranks[f] as Float64Array)[i] as number
      if (Number.isNaN(rank)) continue
      const given = (rank * (factors[f] as Factor).rule.weight) / weight
      ;(points[f] as Float64Array)[i] = given
      sum += given
    }
    score[i] = Math.min(100, sum + Math.min(catalystPointsMax, catalysts[i] as number))
    ranked.push(i)
  }
  ranked.sort((a, b) => (score[b] as number) - (score[a] as number) || a - b)
  return { score, coverage, percentiles: ranks, points, ranking: Int32Array.from(ranked) }
}

function oriented(ranks: Float64Array, rule: FactorRule): Float64Array {
  return rule.direction === 'high' ? ranks : ranks.map((rank) => 100 - rank)
}
