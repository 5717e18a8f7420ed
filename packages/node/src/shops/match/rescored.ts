import { type DenseTerms, markBits } from './dense-terms.ts'
import type { KnownTerms } from './known-terms.ts'
import type { LatentSpace } from './latent-space.ts'
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

export const byTotal = (a: Rescored, b: Rescored): number => b.total - a.total || a.hit.pageId - b.hit.pageId

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
