/** One symbol on one day: what was predicted and what followed. */
export type Observation = { day: number; prediction: number; hit: boolean }

export type Measured = {
  observations: number
  hits: number
  base_rate: number | null
  precision: Record<string, number | null>
  lift: Record<string, number | null>
  pr_auc: number | null
}

/** Precision and lift of the best of each day, and the area under precision over recall of all days together. */
export function measure(days: readonly (readonly Observation[])[], depths: readonly number[]): Measured {
  const all = days.flat()
  const hits = all.filter(({ hit }) => hit).length
  const base = all.length === 0 ? null : hits / all.length
  const precision: Record<string, number | null> = {}
  const lift: Record<string, number | null> = {}
  const ordered = days.map(bestFirst)
  for (const depth of depths) {
    const taken = ordered.flatMap((day) => day.slice(0, depth))
    const rate = taken.length === 0 ? null : taken.filter(({ hit }) => hit).length / taken.length
    precision[`at_${depth}`] = round(rate)
    lift[`at_${depth}`] = rate === null || !base ? null : round(rate / base)
  }
  return {
    observations: all.length,
    hits,
    base_rate: round(base),
    precision,
    lift,
    pr_auc: round(averagePrecision(all)),
  }
}

const bestFirst = (day: readonly Observation[]): Observation[] => [...day].sort((a, b) => b.prediction - a.prediction)

export function averagePrecision(observations: readonly Observation[]): number | null {
  const sorted = [...observations].sort((a, b) => b.prediction - a.prediction)
  let hits = 0
  let sum = 0
  for (const [index, { hit }] of sorted.entries()) {
    if (!hit) continue
    hits += 1
    sum += hits / (index + 1)
  }
  return hits === 0 ? null : sum / hits
}

/** Mean squared error of taking score/100 for a probability, which it is not, beside that of always saying the base rate. */
export function brier(observations: readonly Observation[]): { score: number | null; base_rate: number | null } {
  if (observations.length === 0) return { score: null, base_rate: null }
  const rate = observations.filter(({ hit }) => hit).length / observations.length
  const mean = (error: (one: Observation) => number) =>
    observations.reduce((sum, one) => sum + error(one) ** 2, 0) / observations.length
  return {
    score: round(mean(({ prediction, hit }) => prediction / 100 - Number(hit))),
    base_rate: round(mean(({ hit }) => rate - Number(hit))),
  }
}

export function calibration(observations: readonly Observation[]) {
  const edges = [0, 40, 50, 60, 70, 80, 90, 100.01]
  return edges.slice(1).map((to, index) => {
    const from = edges[index] as number
    const inside = observations.filter(({ prediction }) => prediction >= from && prediction < to)
    const hits = inside.filter(({ hit }) => hit).length
    return {
      from,
      to: Math.min(100, to),
      observations: inside.length,
      hits,
      rate: inside.length === 0 ? null : round(hits / inside.length),
    }
  })
}

const resamples = 400

type Days = readonly (readonly Observation[])[]

/** Neighbouring days share most of their outcome window, so whole blocks of days are drawn, never single ones. */
export function liftInterval(
  days: Days,
  depth: number,
  blockDays: number,
): { low: number | null; high: number | null; blocks: number } {
  const blocks = blocksOf(days, depth, blockDays)
  const at = quantiles(blocks.length, (drawn) => liftOf(drawn.map((block) => blocks[block] as Counts)))
  return { low: at(0.05), high: at(0.95), blocks: blocks.length }
}

/** How far the lift of one ranking is above that of another. Both are given the same days, and each draw takes the same blocks of both. */
export function liftDifference(
  one: Days,
  other: Days,
  depth: number,
  blockDays: number,
): { difference: number | null; median: number | null; low: number | null; high: number | null; blocks: number } {
  const [ours, theirs] = [blocksOf(one, depth, blockDays), blocksOf(other, depth, blockDays)]
  const differenceOf = (drawn: readonly number[]) => {
    const a = liftOf(drawn.map((block) => ours[block] as Counts))
    const b = liftOf(drawn.map((block) => theirs[block] as Counts))
    return a === null || b === null ? null : round(a - b)
  }
  const at = quantiles(ours.length, differenceOf)
  return {
    difference: differenceOf(ours.map((_, block) => block)),
    median: at(0.5),
    low: at(0.05),
    high: at(0.95),
    blocks: ours.length,
  }
}

function blocksOf(days: Days, depth: number, blockDays: number): Counts[] {
  const counts = days.map((day) => countsOf(day, depth))
  const blocks: Counts[] = []
  for (let from = 0; from < counts.length; from += blockDays)
    blocks.push(counts.slice(from, from + blockDays).reduce(addCounts, nothing))
  return blocks
}

/** Quantiles of a figure over draws of blocks. One block gives none: that would be made up. */
function quantiles(blocks: number, figure: (drawn: readonly number[]) => number | null) {
  const figures: number[] = []
  let state = 20_210_128
  const next = () => {
    // A fixed sequence: the same observations always give the same interval.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
  for (let i = 0; blocks > 1 && i < resamples; i += 1) {
    const found = figure(Array.from({ length: blocks }, () => Math.floor(next() * blocks)))
    if (found !== null) figures.push(found)
  }
  figures.sort((a, b) => a - b)
  return (share: number) => figures[Math.floor(share * (figures.length - 1))] ?? null
}

/** Lift of the best `depth` of each day, all days together. */
export const liftAt = (days: Days, depth: number): number | null => liftOf(days.map((day) => countsOf(day, depth)))

function liftOf(blocks: readonly Counts[]): number | null {
  const { all, hits, taken, topHits } = blocks.reduce(addCounts, nothing)
  return round(topHits / taken / (hits / all))
}

/** All that a lift depends on: blocks of days are drawn hundreds of times, and sums are all that has to be drawn. */
type Counts = { all: number; hits: number; taken: number; topHits: number }

const nothing: Counts = { all: 0, hits: 0, taken: 0, topHits: 0 }

function countsOf(day: readonly Observation[], depth: number): Counts {
  const taken = bestFirst(day).slice(0, depth)
  const hitsIn = (observations: readonly Observation[]) => observations.filter(({ hit }) => hit).length
  return { all: day.length, hits: hitsIn(day), taken: taken.length, topHits: hitsIn(taken) }
}

const addCounts = (a: Counts, b: Counts): Counts => ({
  all: a.all + b.all,
  hits: a.hits + b.hits,
  taken: a.taken + b.taken,
  topHits: a.topHits + b.topHits,
})

export function round(value: number | null, digits = 4): number | null {
  return value === null || !Number.isFinite(value) ? null : Math.round(value * 10 ** digits) / 10 ** digits
}
