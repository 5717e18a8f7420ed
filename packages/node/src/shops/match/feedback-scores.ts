import { markedMax, withMarks } from './mark-terms.ts'
import {
  besideBest,
  byTotal,
  type IndexPart,
  impactOf,
  type LookedUp,
  type Rescored,
  type RescoreInput,
  type RescoreWeights,
} from './rescore.ts'
import { type Segment, segmentStep } from './segment.ts'
import { createTokenRoom, keptTokensMax, readTokens } from './token-stream.ts'

/** A term in more pages than this share of them, or in one only, says nothing about what the best pages share. */
const feedbackShareMax = 0.2

const room = createTokenRoom()

/** RM3: the terms that mark the best candidates are looked for in all of them. */
export function feedbackScores(
  input: RescoreInput,
  found: readonly Rescored[],
  weights: RescoreWeights,
): Float64Array | undefined {
  const terms = markingTerms(input, [...found].sort(byTotal).slice(0, weights.feedbackPages), weights)
  const values = new Float64Array(found.length)
  input.parts.forEach(({ segment }, place) => {
    const ids = terms.map(({ ids: all }) => all[place] as number)
    withMarks(segment, ids, (marks) => {
      found.forEach(({ hit }, at) => {
        if (hit.segment === place) values[at] = weightOfTerms(segment, hit.doc, marks, ids, terms)
      })
    })
  })
  return besideBest(values)
}

type MarkingTerm = { ids: readonly number[]; weight: number; text: string }

function markingTerms(input: RescoreInput, best: readonly Rescored[], weights: RescoreWeights): MarkingTerm[] {
  const commonest = feedbackShareMax * input.docCount
  const shares = new Map<LookedUp, number>()
  for (const [key, share] of sharesOf(input.parts, best)) {
    const place = Math.floor(key / segmentStep)
    const term = input.lookUpNumber(place, key - place * segmentStep)
    if (term.count >= 2 && term.count <= commonest) shares.set(term, (shares.get(term) ?? 0) + share)
  }
  const found = [...shares].map(([{ ids, text, rarity }, share]) => ({ ids, text, weight: share * rarity }))
  const wanted = Math.min(markedMax, weights.feedbackTerms)
  return bestOf(found, wanted)
}

/** Few of many: only those that reach the last place are put into order. */
function bestOf(found: readonly MarkingTerm[], wanted: number): MarkingTerm[] {
  const sorted = Float64Array.from(found, ({ weight }) => weight).sort()
  const least = sorted[Math.max(0, sorted.length - wanted)] ?? 0
  return found
    .filter(({ weight }) => weight >= least)
    .sort((a, b) => b.weight - a.weight || (a.text < b.text ? -1 : 1))
    .slice(0, wanted)
}

/** What each term is of the best pages, by segment and number; saturating, and whatever the length of the page. */
function sharesOf(parts: readonly IndexPart[], best: readonly Rescored[]): Map<number, number> {
  const total = best.reduce((sum, one) => sum + one.total, 0)
  const shares = new Map<number, number>()
  for (const { hit, total: own } of best) {
    const length = readTokens((parts[hit.segment] as IndexPart).segment, hit.doc, room)
    const tokens = room.slice(0, length).sort()
    for (let at = 0; at < length; ) {
      const term = tokens[at] as number
      const from = at
      while (at < length && tokens[at] === term) at += 1
      if (term < 0) continue
      const key = hit.segment * segmentStep + term
      const count = at - from
      shares.set(key, (shares.get(key) ?? 0) + ((count / (count + 1)) * own) / total)
    }
  }
  return shares
}

const met = new Uint8Array(markedMax)

/** Few of the terms stand in a page: its own terms say which, and only those are looked up among millions of postings. */
function weightOfTerms(
  segment: Segment,
  doc: number,
  marks: Uint8Array,
  ids: readonly number[],
  terms: readonly MarkingTerm[],
): number {
  const length = readTokens(segment, doc, room)
  // Of a long page not all terms are kept in order: then every one is looked up.
  met.fill(length > keptTokensMax ? 1 : 0, 0, ids.length)
  if (length <= keptTokensMax)
    for (let at = 0; at < length; at += 1) {
      const token = room[at] as number
      if (token >= 0 && marks[token] !== 0) met[(marks[token] as number) - 1] = 1
    }
  let sum = 0
  for (let at = 0; at < ids.length; at += 1)
    if (met[at] === 1) sum += (terms[at] as MarkingTerm).weight * impactOf(segment, ids[at] as number, doc)
  return sum
}
