import { bestOf } from './best-of.ts'
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
} from './rescore.ts'
import type { Segment } from './segment.ts'
import { keptTokensMax } from './token-stream.ts'

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
  const values = new Float64Array(found.length)
  input.parts.forEach((part, place) => {
    const ids = terms.map(({ term }) => term.ids[place] as number)
    const looked = terms.map(({ weight }, at) => ({ weight, postings: postingsOf(part, ids[at] as number) }))
    withMarks(part.segment, ids, (marks) => {
      for (const { hit, at } of found)
        if (hit.segment === place) values[at] = weightOfTerms(part.segment, hit.doc, at, tokens, marks, looked)
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
  for (const number of found)
    shares[number] = (holders[number] as number) < sharedMin ? 0 : (shares[number] as number) * known.worth(number)
  const byWeight = (a: number, b: number) =>
    (shares[b] as number) - (shares[a] as number) || (known.at(a).text < known.at(b).text ? -1 : 1)
  const marking = bestOf(found, Math.min(markedMax, weights.feedbackTerms), byWeight)
    .filter((number) => (shares[number] as number) > 0)
    .map((number) => ({ term: known.at(number), weight: shares[number] as number }))
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

// The last page that each term was seen in, by a number that no other page has.
const seenIn = new Float64Array(markedMax)
let page = 0

/** Few of the terms stand in a page: its own terms say which, and only those are looked up among millions of postings. */
function weightOfTerms(
  segment: Segment,
  doc: number,
  at: number,
  { tokens, starts }: CandidateTokens,
  marks: Uint8Array,
  terms: readonly { weight: number; postings: Postings }[],
): number {
  const [from, to] = [starts[at] as number, starts[at + 1] as number]
  let sum = 0
  // Of a long page not all terms are kept in order: then every one is looked up.
  if (to - from > keptTokensMax) {
    for (const { weight, postings } of terms) sum += weight * impactOf(segment, postings, doc)
    return sum
  }
  page += 1
  for (let place = from; place < to; place += 1) {
    const token = tokens[place] as number
    const mark = token < 0 ? 0 : (marks[token] as number)
    if (mark === 0 || seenIn[mark - 1] === page) continue
    seenIn[mark - 1] = page
    const { weight, postings } = terms[mark - 1] as { weight: number; postings: Postings }
    sum += weight * impactOf(segment, postings, doc)
  }
  return sum
}
