import { bestOf } from './best-of.ts'
import type { KnownTerms } from './known-terms.ts'
import { markedMax, withMarks } from './mark-terms.ts'
import type { CandidateTokens } from './read-candidates.ts'
import {
  besideBest,
  byTotal,
  type IndexPart,
  impactOf,
  type Rescored,
  type RescoreInput,
  type RescoreWeights,
} from './rescore.ts'
import { keptTokensMax } from './token-stream.ts'

/** A term in more pages than this share of them, or in one only, says nothing about what the best pages share. */
const feedbackShareMax = 0.2

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
    const ids = terms.map(({ ids: all }) => all[place] as number)
    withMarks(part.segment, ids, (marks) => {
      for (const { hit, at } of found)
        if (hit.segment === place) values[at] = weightOfTerms(part, hit.doc, at, tokens, marks, ids, terms)
    })
  })
  return besideBest(values)
}

type MarkingTerm = { ids: readonly number[]; weight: number; text: string }

function markingTerms(
  { known, docCount }: RescoreInput,
  best: readonly Rescored[],
  tokens: CandidateTokens,
  weights: RescoreWeights,
): MarkingTerm[] {
  const commonest = feedbackShareMax * docCount
  const found: MarkingTerm[] = []
  for (const number of addShares(known, best, tokens)) {
    const { ids, text, rarity, count } = known.at(number)
    if (count >= 2 && count <= commonest) found.push({ ids, text, weight: (shares[number] as number) * rarity })
    shares[number] = 0
  }
  return bestOf(found, Math.min(markedMax, weights.feedbackTerms), byWeight)
}

const byWeight = (a: MarkingTerm, b: MarkingTerm) => b.weight - a.weight || (a.text < b.text ? -1 : 1)

// By number of a known term, all zero between two uses.
let shares = new Float64Array(0)
let counts = new Uint16Array(0)

/** What each term is of the best pages, in `shares`; saturating, and whatever the length of the page. Returns the terms. */
function addShares(known: KnownTerms, best: readonly Rescored[], { tokens, starts }: CandidateTokens): number[] {
  const total = best.reduce((sum, one) => sum + one.total, 0)
  const pages = best.map(({ hit, at }) =>
    tokens.slice(starts[at], starts[at + 1]).map((token) => (token < 0 ? -1 : known.numberOf(hit.segment, token))),
  )
  if (shares.length < known.size()) {
    shares = new Float64Array(2 * known.size())
    counts = new Uint16Array(2 * known.size())
  }
  const seen: number[] = []
  best.forEach(({ total: own }, page) => {
    const numbers = pages[page] as Int32Array
    for (const number of numbers) if (number >= 0) counts[number] = (counts[number] as number) + 1
    for (const number of numbers) {
      if (number < 0 || counts[number] === 0) continue
      const count = counts[number] as number
      counts[number] = 0
      if (shares[number] === 0) seen.push(number)
      shares[number] = (shares[number] as number) + ((count / (count + 1)) * own) / total
    }
  })
  return seen
}

const met = new Uint8Array(markedMax)

/** Few of the terms stand in a page: its own terms say which, and only those are looked up among millions of postings. */
function weightOfTerms(
  part: IndexPart,
  doc: number,
  at: number,
  { tokens, starts }: CandidateTokens,
  marks: Uint8Array,
  ids: readonly number[],
  terms: readonly MarkingTerm[],
): number {
  const [from, to] = [starts[at] as number, starts[at + 1] as number]
  // Of a long page not all terms are kept in order: then every one is looked up.
  const all = to - from > keptTokensMax
  met.fill(all ? 1 : 0, 0, ids.length)
  if (!all)
    for (let token = from; token < to; token += 1) {
      const mark = tokens[token] === -1 ? 0 : (marks[tokens[token] as number] as number)
      if (mark !== 0) met[mark - 1] = 1
    }
  let sum = 0
  for (let term = 0; term < ids.length; term += 1)
    if (met[term] === 1) sum += (terms[term] as MarkingTerm).weight * impactOf(part, ids[term] as number, doc)
  return sum
}
