import { feedbackScores } from './feedback-scores.ts'
import { type LatentSpace, projectQuery } from './latent-space.ts'
import { addNeighbours } from './neighbour-scores.ts'
import { readWords } from './query-words.ts'
import type { Segment } from './segment.ts'
import type { Hit } from './top-hits.ts'

/** A term of the query over all segments: its number in each (-1: not there), in how many pages it occurs. */
export type LookedUp = { text: string; times: number; ids: readonly number[]; count: number; rarity: number }

export type IndexPart = { segment: Segment; latent: Int8Array | undefined }

/** How much each finding adds to the words themselves; chosen by bench/relevance. */
export type RescoreWeights = {
  latent: number
  proximity: number
  proximityWindow: number
  feedback: number
  feedbackPages: number
  feedbackTerms: number
  neighbours: number
  neighbourCount: number
}

export const defaultRescoring: RescoreWeights = {
  latent: 0.2,
  proximity: 0.2,
  proximityWindow: 4,
  feedback: 0.15,
  feedbackPages: 10,
  feedbackTerms: 30,
  neighbours: 0.3,
  neighbourCount: 5,
}

/** What the words of a page are worth beside the best candidate's, and what the rest adds: each between 0 and 1. */
export type ScoreParts = { words: number; latent: number; proximity: number; feedback: number; neighbours: number }

/** `holds`: which terms of the query stand in the page, 1 or 0 for each. */
export type Rescored = { hit: Hit; parts: ScoreParts; total: number; holds: Uint8Array }

export type RescoreInput = {
  parts: readonly IndexPart[]
  terms: readonly LookedUp[]
  /** Terms in reading order. */
  order: readonly string[]
  space: LatentSpace | undefined
  docCount: number
  /** A term by its number in a segment; the same object for each of its numbers. */
  lookUpNumber(place: number, term: number): LookedUp
}

/** The candidates in a new order: by their words, what they mean, how near the words are, and what the best of them share. */
export function rescore(input: RescoreInput, hits: readonly Hit[], weights = defaultRescoring): Rescored[] {
  const best = hits.reduce((most, { score }) => Math.max(most, score), 1)
  const words = readWords(input, hits, weights.proximityWindow)
  const count = input.terms.length
  const found = hits.map((hit, at): Rescored => {
    const own = hit.score / best
    const parts = { words: own, latent: 0, proximity: 0, feedback: 0, neighbours: 0 }
    return { hit, parts, total: own, holds: words.holds.subarray(at * count, (at + 1) * count) }
  })
  const add = (part: Exclude<keyof ScoreParts, 'words'>, values: ArrayLike<number> | undefined) => {
    if (!values) return
    found.forEach((one, at) => {
      one.parts[part] = values[at] as number
      one.total += weights[part] * (values[at] as number)
    })
  }
  if (weights.latent > 0) add('latent', latentScores(input, hits))
  if (weights.proximity > 0) add('proximity', words.near)
  if (weights.feedback > 0) add('feedback', feedbackScores(input, found, weights))
  if (weights.neighbours > 0 && input.space) addNeighbours(input, found, weights)
  return found.sort(byTotal)
}

export const byTotal = (a: Rescored, b: Rescored): number => b.total - a.total || a.hit.pageId - b.hit.pageId

function latentScores({ parts, terms, space }: RescoreInput, hits: readonly Hit[]): Float64Array | undefined {
  const asked =
    space &&
    projectQuery(
      space,
      terms.map(({ text, times }) => [text, times] as const),
    )
  if (!space || !asked) return undefined
  const cosines = new Float64Array(hits.length)
  hits.forEach(({ segment, doc }, at) => {
    const latent = parts[segment]?.latent
    if (!latent) return
    const from = doc * space.dims
    let product = 0
    let squares = 0
    for (let dim = 0; dim < space.dims; dim += 1) {
      const value = latent[from + dim] as number
      product += value * (asked[dim] as number)
      squares += value * value
    }
    if (squares > 0 && product > 0) cosines[at] = product / Math.sqrt(squares)
  })
  return besideBest(cosines)
}

/** Undefined where none is above zero. */
export function besideBest(values: Float64Array): Float64Array | undefined {
  const best = values.reduce((most, value) => Math.max(most, value), 0)
  return best === 0 ? undefined : values.map((value) => value / best)
}

/** What a term is worth in a page, in 255ths; 0 where it does not occur. */
export function impactOf({ starts, docs, impacts }: Segment, term: number, doc: number): number {
  if (term < 0) return 0
  let low = starts[term] as number
  let high = starts[term + 1] as number
  const end = high
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((docs[middle] as number) < doc) low = middle + 1
    else high = middle
  }
  return low < end && docs[low] === doc ? (impacts[low] as number) : 0
}
