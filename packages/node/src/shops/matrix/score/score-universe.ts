import { catalystPointsMax, type FactorRule, middlePoints, type ScoreMethod, usableWeightMin } from './method.ts'
import { halvings, percentiles, percentilesOf, placesOf, rankingOf } from './percentiles.ts'

export type Factor = { rule: FactorRule; values: Float64Array }

export type ScoredUniverse = {
  /** What is shown, 0..100. NaN where nothing can be said. */
  score: Float64Array
  /** What is ranked by. */
  strength: Float64Array
  /** Share of the full weight behind the score, percent. */
  coverage: Float64Array
  /** By factor, in the order given. */
  percentiles: readonly Float64Array[]
  /** Points each known factor gave, in the order given; they, the middle for unknown ones and the catalysts add up to the strength. */
  points: readonly Float64Array[]
  /** By rank: best first, ties by symbol order. */
  ranking: Int32Array
}

/** How a ranking is made of factors; a method of the score is one. */
export type ScoringRules = Omit<ScoreMethod, 'name'>

export type ScoreInput = {
  method: Omit<ScoringRules, 'factors'>
  included: Uint8Array
  factors: readonly Factor[]
  catalysts: Float64Array
}

/** Points by factor, weighted; coverage says how much of the weight is known. */
export function scoreUniverse({ method, included, factors, catalysts }: ScoreInput): ScoredUniverse {
  const size = included.length
  const ranks = factors.map(({ rule, values }) => oriented(percentiles(values, included), rule))
  // A factor that no symbol has, such as the shares outstanding of funds, is left out for all.
  const isUsed = (index: number) =>
    method.unknown === 'reweighted' || (ranks[index] as Float64Array).some((rank) => !Number.isNaN(rank))
  const usableWeight = factors.reduce((sum, { rule }, index) => (isUsed(index) ? sum + rule.weight : sum), 0)
  const given = method.points === 'halvings' ? ranks.map(halvings) : ranks
  const needed = given[factors.findIndex(({ rule }, index) => rule.name === method.needs && isUsed(index))]
  const strength = new Float64Array(size).fill(Number.NaN)
  const coverage = new Float64Array(size)
  const points = factors.map(() => new Float64Array(size).fill(Number.NaN))
  for (let i = 0; i < size; i += 1) {
    if (included[i] !== 1) continue
    let weight = 0
    for (let f = 0; f < factors.length; f += 1)
      if (!Number.isNaN((given[f] as Float64Array)[i] as number)) weight += (factors[f] as Factor).rule.weight
    coverage[i] = weight
    if (weight === 0 || weight < usableWeight * usableWeightMin) continue
    if (needed && Number.isNaN(needed[i] as number)) continue
    const divisor = method.unknown === 'middle' ? usableWeight : weight
    let sum = method.catalystsCount ? Math.min(catalystPointsMax, catalysts[i] as number) : 0
    sum += (middlePoints * (divisor - weight)) / divisor
    for (let f = 0; f < factors.length; f += 1) {
      const own = (given[f] as Float64Array)[i] as number
      if (Number.isNaN(own)) continue
      const part = (own * (factors[f] as Factor).rule.weight) / divisor
      ;(points[f] as Float64Array)[i] = part
      sum += part
    }
    strength[i] = sum
  }
  // Version 1 ranked by what it showed.
  const order = method.points === 'halvings' ? strength : strength.map((value) => Math.min(100, value))
  const places = placesOf(order, included)
  const score = method.points === 'halvings' ? percentilesOf(places) : order
  return { score, strength, coverage, percentiles: ranks, points, ranking: rankingOf(places) }
}

function oriented(ranks: Float64Array, rule: FactorRule): Float64Array {
  return rule.direction === 'high' ? ranks : ranks.map((rank) => 100 - rank)
}
