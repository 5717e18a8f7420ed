import { bestOf } from './best-of.ts'
import { defaultWeights } from './build-segment.ts'
import type { KnownTerms } from './known-terms.ts'
import { markedMax, withMarks } from './mark-terms.ts'
import type { CandidateTokens } from './read-candidates.ts'
import {
  besideBest,
  byTotal,
  impactOf,
  type LookedUp,
  type Postings,
  postingsOf,
  type Rescored,
  type RescoreInput,
  type RescoreWeights,
} from './rescored.ts'
import type { Segment } from './segment.ts'
import { keptTokensMax } from './token-stream.ts'

const { k1, titleWeight, bodyB } = defaultWeights
const impactMax = 255
/** The first pages say what the answer is about, the tenth hardly does: a page weighs by this power of its score. */
const steepness = 6
/** A term of only one of the best pages is peculiar to it, not to what was asked. */
const sharedMin = 2

/** RM3: the terms that mark the best candidates are looked for in all of them, which are in the order of `tokens`. */
export function feedbackScores(
  input: RescoreInput,
  found: readonly Rescored[],
  tokens: CandidateTokens,
  weights: RescoreWeights,
): Float64Array | undefined {
  const terms = markingTerms(input, bestOf(found, weights.feedbackPages, byTotal), tokens, weights)
  const weighed = Float64Array.from(terms, ({ weight }) => weight)
  const values = new Float64Array(found.length)
  input.parts.forEach((part, place) => {
    const ids = terms.map(({ term }) => term.ids[place] as number)
    let postings: Postings[] | undefined
    withMarks(part.segment, ids, (marks) => {
      for (const { hit, at } of found) {
        if (hit.segment !== place) continue
        const length = (tokens.starts[at + 1] as number) - (tokens.starts[at] as number)
        if (length <= keptTokensMax) values[at] = counted(tokens, at, marks, weighed)
        else {
          // Of a long page not all terms are kept in order: then every one is looked up.
          postings ??= ids.map((id) => postingsOf(part, id))
          values[at] = lookedUp(part.segment, hit.doc, postings, weighed)
        }
      }
    })
  })
  // A page with twice the terms is better, not twice as good.
  return besideBest(values.map(Math.sqrt))
}

type MarkingTerm = { term: LookedUp; weight: number }

function markingTerms(
  { known }: RescoreInput,
  best: readonly Rescored[],
  tokens: CandidateTokens,
  weights: RescoreWeights,
): MarkingTerm[] {
  const found = addShares(known, best, tokens)
  const shared = found.filter((number) => (holders[number] as number) >= sharedMin && known.worth(number) > 0)
  for (const number of shared) shares[number] = (shares[number] as number) * known.worth(number)
  const byWeight = (a: number, b: number) =>
    (shares[b] as number) - (shares[a] as number) || (known.at(a).text < known.at(b).text ? -1 : 1)
  const marking = bestOf(shared, Math.min(markedMax, weights.feedbackTerms), byWeight).map((number) => ({
    term: known.at(number),
    weight: shares[number] as number,
  }))
  for (const number of found) {
    shares[number] = 0
    holders[number] = 0
  }
  return marking
}

// By number of a known term, all zero between two uses.
let shares = new Float64Array(0)
let counts = new Uint16Array(0)
let holders = new Uint16Array(0)

/**
 * What each term is of the best pages, in `shares` (saturating, and whatever the length of the page), and how many of
 * them hold it, in `holders`. Returns the terms.
 */
function addShares(known: KnownTerms, best: readonly Rescored[], { tokens, starts }: CandidateTokens): number[] {
  const likely = best.map(({ total }) => total ** steepness)
  const all = likely.reduce((sum, one) => sum + one, 0)
  const pages = best.map(({ hit, at }) =>
    tokens.slice(starts[at], starts[at + 1]).map((token) => (token < 0 ? -1 : known.numberOf(hit.segment, token))),
  )
  if (shares.length < known.size()) {
    shares = new Float64Array(2 * known.size())
    counts = new Uint16Array(2 * known.size())
    holders = new Uint16Array(2 * known.size())
  }
  const seen: number[] = []
  likely.forEach((own, page) => {
    const numbers = pages[page] as Int32Array
    for (const number of numbers) if (number >= 0) counts[number] = (counts[number] as number) + 1
    for (const number of numbers) {
      if (number < 0 || counts[number] === 0) continue
      const count = counts[number] as number
      counts[number] = 0
      if (holders[number] === 0) seen.push(number)
      shares[number] = (shares[number] as number) + ((count / (count + 1)) * own) / all
      holders[number] = (holders[number] as number) + 1
    }
  })
  return seen
}

function lookedUp(segment: Segment, doc: number, postings: readonly Postings[], weights: Float64Array): number {
  return postings.reduce((sum, one, at) => sum + (weights[at] as number) * impactOf(segment, one, doc), 0) / impactMax
}

// How often each term is in the page that is read, zero between two pages, and which those are.
const times = new Float64Array(markedMax)
const met = new Uint8Array(markedMax)

/** About what BM25F gives, from the terms of the page itself: looking each up among millions of postings takes longer. */
function counted({ tokens, starts }: CandidateTokens, at: number, marks: Uint8Array, weights: Float64Array): number {
  const [from, to] = [starts[at] as number, starts[at + 1] as number]
  let count = 0
  let worth = titleWeight
  for (let place = from; place < to; place += 1) {
    const token = tokens[place] as number
    if (token < 0) {
      worth = 1
      continue
    }
    const mark = marks[token] as number
    if (mark === 0) continue
    if (times[mark - 1] === 0) {
      met[count] = mark - 1
      count += 1
    }
    times[mark - 1] = (times[mark - 1] as number) + worth
  }
  const meanLength = (starts[starts.length - 1] as number) / (starts.length - 1)
  const half = k1 * (1 - bodyB + (bodyB * (to - from)) / meanLength)
  let sum = 0
  for (let place = 0; place < count; place += 1) {
    const term = met[place] as number
    const often = times[term] as number
    times[term] = 0
    sum += ((weights[term] as number) * often) / (often + half)
  }
  return sum
}
