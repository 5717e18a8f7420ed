import { markedMax, withMarks } from './mark-terms.ts'
import {
  besideBest,
  byTotal,
  type IndexPart,
  impactOf,
  type Rescored,
  type RescoreInput,
  type RescoreWeights,
} from './rescore.ts'
import { type Segment, termAt } from './segment.ts'
import { rarityOf } from './term-weights.ts'
import { createTokenRoom, keptTokensMax, readTokens } from './token-stream.ts'

/** A term in more pages than this share of them, or in one only, says nothing about what the best pages share. */
const feedbackShareMax = 0.2

/** Terms that by their own segment might be among the best; only these are looked up in all of them. */
const consideredFactor = 4

/** Above every number of a term: segment and term make one key. */
const segmentStep = 2 ** 32

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
  const wanted = Math.min(markedMax, weights.feedbackTerms)
  const shares = sharesOf(input.parts, best)
  const commonest = feedbackShareMax * input.docCount
  return consideredTexts(input, shares, wanted)
    .map((text) => input.lookUp(text))
    .filter(({ count }) => count >= 2 && count <= commonest)
    .map(({ text, ids, rarity }) => {
      const share = ids.reduce((sum, id, place) => sum + (id < 0 ? 0 : (shares.get(place * segmentStep + id) ?? 0)), 0)
      return { text, ids, weight: share * rarity }
    })
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

/** The texts of the terms that weigh most as far as their own segment tells. */
function consideredTexts({ parts }: RescoreInput, shares: ReadonlyMap<number, number>, wanted: number): string[] {
  const guessed = [...shares].map(([key, share]) => {
    const place = Math.floor(key / segmentStep)
    const term = key - place * segmentStep
    const { starts, docCount } = (parts[place] as IndexPart).segment
    const pages = (starts[term + 1] as number) - (starts[term] as number)
    return { place, term, pages, weight: share * rarityOf(docCount, pages) }
  })
  guessed.sort((a, b) => b.weight - a.weight)
  // Most terms that are on one page of their segment are on no other: those that are must not take all places.
  const chosen = [
    ...guessed.filter(({ pages }) => pages > 1).slice(0, consideredFactor * wanted),
    ...guessed.filter(({ pages }) => pages === 1).slice(0, wanted),
  ]
  return [...new Set(chosen.map(({ place, term }) => termAt((parts[place] as IndexPart).segment.terms, term)))]
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
