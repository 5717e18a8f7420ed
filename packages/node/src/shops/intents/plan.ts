import type { Ratio } from './discrete-laplace.ts'
import type { IntentSettings } from './settings.ts'

/** How a day is cut: the length of its buckets, and how many tiers of topics are counted in them. */
export type Plan = { bucketMs: number; tiers: number }

type Budget = Pick<IntentSettings, 'epsilonDailyMicro' | 'k'>

const dayMs = 86_400_000
const hourMs = 3_600_000

/** From the widest to the finest: a quiet node says little at a time, but something that is true. */
export const ladder: readonly Plan[] = [
  { bucketMs: 24 * hourMs, tiers: 1 },
  { bucketMs: 24 * hourMs, tiers: 2 },
  { bucketMs: 12 * hourMs, tiers: 2 },
  { bucketMs: 6 * hourMs, tiers: 2 },
  { bucketMs: 3 * hourMs, tiers: 2 },
  { bucketMs: hourMs, tiers: 2 },
  { bucketMs: hourMs, tiers: 3 },
]

export const widest = ladder[0] as Plan

/** What the description of the stream promises: 95 % errors that add up to at most this part of the published demand. */
export const promisedError = 0.25
/** A finer plan is taken when it would stay this far within the promise, so that a quiet hour does not break it. */
const headroom = 0.8

/** Parts of a bucket's budget, in fifths, for the counts of topics and for the words in them. */
const countShare = 4n
const wordShare = 1n
const allShares = 5n

/** P(|x| > error) = 5 %: of the sum of two Laplace variables, (1 + x/2) exp(-x); of one, exp(-x). */
const errorOfTwo = 4.12
const errorOfOne = 3

export function bucketEpsilonMicro(budget: Budget, { bucketMs }: Plan): bigint {
  const micro = (budget.epsilonDailyMicro * BigInt(bucketMs)) / BigInt(dayMs)
  if (micro < allShares) throw new RangeError('INTENTS: epsilon_daily is too small for so many buckets a day')
  return micro
}

/**
 * Rate of the noise. An agent is in one topic of each tier, and there either among the bonded or among the others: it moves
 * one count of each tier by one, and one word.
 */
export function noiseRate(budget: Budget, plan: Plan, figure: 'count' | 'word'): Ratio {
  const micro = bucketEpsilonMicro(budget, plan)
  return reduced(
    figure === 'count'
      ? { num: micro * countShare, den: allShares * 1_000_000n * BigInt(plan.tiers) }
      : { num: micro * wordShare, den: allShares * 1_000_000n },
  )
}

function reduced({ num, den }: Ratio): Ratio {
  let [a, b] = [num, den]
  while (b > 0n) [a, b] = [b, a % b]
  return { num: num / a, den: den / a }
}

export type Accuracy = {
  /** Scale of the noise added to each count, in agents. */
  scale: number
  /** 95 % of the published figures are at most so far from the truth. */
  demandError: number
  bondedError: number
  wordError: number
  /** A topic is shown from here on: at least k, and at least twice its own error. */
  least: number
  minWordCount: number
}

const upTo = (value: number, decimals: number): number => Math.ceil(value * 10 ** decimals) / 10 ** decimals

export function accuracyOf(budget: Budget, plan: Plan): Accuracy {
  const scaleOf = ({ num, den }: Ratio) => Number(den) / Number(num)
  const scale = scaleOf(noiseRate(budget, plan, 'count'))
  const demandError = upTo(errorOfTwo * scale, 1)
  const wordError = upTo(errorOfOne * scaleOf(noiseRate(budget, plan, 'word')), 1)
  return {
    scale: upTo(scale, 3),
    demandError,
    bondedError: upTo(errorOfOne * scale, 1),
    wordError,
    least: Math.max(budget.k, Math.ceil(2 * demandError)),
    minWordCount: Math.max(budget.k, Math.ceil(2 * wordError)),
  }
}

/** Demand of the broadest topics as it was published, and the length of the buckets it was published for. */
export type SeenTraffic = { bucketMs: number; demands: readonly number[] }

/** Each tier below shows about three topics for one, with a third of its demand each. */
const spread = [1, 1, 2, 4, 8]

/** 95 % error as a part of the demand that would be shown; infinite where nothing would be. */
export function expectedError(budget: Budget, plan: Plan, seen: SeenTraffic): number {
  const { demandError, least } = accuracyOf(budget, plan)
  // Shorter buckets are taken to hold so much less, longer ones no more: whichever is worse.
  const part = Math.min(1, plan.bucketMs / seen.bucketMs)
  const shown = seen.demands.map((demand) => demand * part).filter((demand) => demand >= least)
  if (shown.length === 0) return Number.POSITIVE_INFINITY
  const mean = shown.reduce((sum, demand) => sum + demand, 0) / shown.length
  return ((spread[plan.tiers] ?? 8) * demandError) / mean
}

/** The finest plan that would keep the promise with the traffic that was published; the widest where none would. */
export function choosePlan(budget: Budget, seen: SeenTraffic | undefined): Plan {
  if (seen === undefined) return widest
  return ladder.findLast((plan) => expectedError(budget, plan, seen) <= headroom * promisedError) ?? widest
}
