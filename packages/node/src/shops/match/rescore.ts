import { type DenseTerms, markBits } from './dense-terms.ts'
import { feedbackScores } from './feedback-scores.ts'
import type { KnownTerms } from './known-terms.ts'
import { type LatentSpace, projectQuery } from './latent-space.ts'
import { addNeighbours } from './neighbour-scores.ts'
import { readWords } from './query-words.ts'
import { readCandidates } from './read-candidates.ts'
import type { Segment } from './segment.ts'
import type { Hit } from './top-hits.ts'

/** A term of the query over all segments: its number in each (-1: not there), in how many pages it occurs. */
export type LookedUp = { text: string; times: number; ids: readonly number[]; count: number; rarity: number }

export type IndexPart = { segment: Segment; dense: DenseTerms; latent: Int8Array | undefined }

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

/** `at`: its place among the hits. `covered`: weight of the terms of the query that stand in the page. */
export type Rescored = { hit: Hit; at: number; parts: ScoreParts; total: number; covered: number }

export type RescoreInput = {
  parts: readonly IndexPart[]
  terms: readonly LookedUp[]
  /** Terms in reading order. */
  order: readonly string[]
  space: LatentSpace | undefined
  known: KnownTerms
}

/** The candidates in a new order: by their words, what they mean, how near the words are, and what the best of them share. */
export function rescore(input: RescoreInput, hits: readonly Hit[], weights = defaultRescoring): Rescored[] {
  const best = hits.reduce((most, { score }) => Math.max(most, score), 1)
  const tokens = readCandidates(input.parts, hits)
  const words = readWords(input, hits, tokens, weights.proximityWindow)
  const found = hits.map((hit, at): Rescored => {
    const own = hit.score / best
    const parts = { words: own, latent: 0, proximity: 0, feedback: 0, neighbours: 0 }
    return { hit, at, parts, total: own, covered: words.covered[at] as number }
  })
  const add = (part: Exclude<keyof ScoreParts, 'words'>, values: ArrayLike<number> | undefined) => {
    if (!values) return
    for (const one of found) {
      one.parts[part] = values[one.at] as number
      one.total += weights[part] * (values[one.at] as number)
    }
  }
  if (weights.latent > 0) add('latent', latentScores(input, hits))
  if (weights.proximity > 0) add('proximity', words.near)
  if (weights.feedback > 0) add('feedback', feedbackScores(input, found, tokens, weights))
  found.sort(byTotal)
  return weights.neighbours > 0 && input.space ? addNeighbours(input, found, weights) : found
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
  for (let at = 0; at < hits.length; at += 1) {
    const { segment, doc } = hits[at] as Hit
    const latent = parts[segment]?.latent
    if (!latent) continue
    const from = doc * space.dims
    let product = 0
    let squares = 0
    for (let dim = 0; dim < space.dims; dim += 1) {
      const value = latent[from + dim] as number
      product += value * (asked[dim] as number)
      squares += Math.imul(value, value)
    }
    if (squares > 0 && product > 0) cosines[at] = product / Math.sqrt(squares)
  }
  return besideBest(cosines)
}

/** Divides all by the best; undefined where none is above zero. */
export function besideBest(values: Float64Array): Float64Array | undefined {
  let best = 0
  for (const value of values) if (value > best) best = value
  if (best === 0) return undefined
  for (let at = 0; at < values.length; at += 1) values[at] = (values[at] as number) / best
  return values
}

/** Postings of a term in a segment; `marks` leave few of a common one's to look through. */
export type Postings = { from: number; end: number; marks: Uint32Array | undefined }

/** None where the term, below 0, does not occur. */
export function postingsOf({ segment: { starts }, dense }: IndexPart, term: number): Postings {
  if (term < 0) return { from: 0, end: 0, marks: undefined }
  return { from: starts[term] as number, end: starts[term + 1] as number, marks: dense.of(term)?.marks }
}

/** What a term is worth in a page, in 255ths; 0 where it does not occur. */
export function impactOf({ docs, impacts }: Segment, { from, end, marks }: Postings, doc: number): number {
  let low = marks ? (marks[doc >> markBits] as number) : from
  let high = marks?.[(doc >> markBits) + 1] ?? end
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((docs[middle] as number) < doc) low = middle + 1
    else high = middle
  }
  return low < end && docs[low] === doc ? (impacts[low] as number) : 0
}
