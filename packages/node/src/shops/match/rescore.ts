import { type LatentSpace, projectQuery } from './latent-space.ts'
import type { Segment } from './segment.ts'
import { termAt } from './segment.ts'
import { createTokenRoom, keptTokensMax, readTokens } from './token-stream.ts'
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

export type Rescored = { hit: Hit; parts: ScoreParts; total: number }

export type RescoreInput = {
  parts: readonly IndexPart[]
  terms: readonly LookedUp[]
  /** Terms in reading order. */
  order: readonly string[]
  space: LatentSpace | undefined
  docCount: number
  /** Finds a term that is not in the query. */
  lookUp(text: string): LookedUp
}

const room = createTokenRoom()

/** The candidates in a new order: by their words, what they mean, how near the words are, and what the best of them share. */
export function rescore(input: RescoreInput, hits: readonly Hit[], weights = defaultRescoring): Rescored[] {
  const best = hits.reduce((most, { score }) => Math.max(most, score), 1)
  const found = hits.map((hit): Rescored => {
    const words = hit.score / best
    return { hit, parts: { words, latent: 0, proximity: 0, feedback: 0, neighbours: 0 }, total: words }
  })
  const add = (part: Exclude<keyof ScoreParts, 'words'>, values: readonly number[] | undefined) => {
    if (!values) return
    found.forEach((one, at) => {
      one.parts[part] = values[at] as number
      one.total += weights[part] * (values[at] as number)
    })
  }
  if (weights.latent > 0) add('latent', latentScores(input, hits))
  if (weights.proximity > 0) add('proximity', proximityScores(input, hits, weights.proximityWindow))
  if (weights.feedback > 0) add('feedback', feedbackScores(input, found, weights))
  if (weights.neighbours > 0 && input.space) addNeighbours(input, found, weights)
  return found.sort((a, b) => b.total - a.total || a.hit.pageId - b.hit.pageId)
}

function latentScores({ parts, terms, space }: RescoreInput, hits: readonly Hit[]): number[] | undefined {
  const asked =
    space &&
    projectQuery(
      space,
      terms.map(({ text, times }) => [text, times] as const),
    )
  if (!space || !asked) return undefined
  const cosines = hits.map(({ segment, doc }) => {
    const latent = parts[segment]?.latent
    if (!latent) return 0
    const from = doc * space.dims
    let [product, squares] = [0, 0]
    for (let dim = 0; dim < space.dims; dim += 1) {
      const value = latent[from + dim] as number
      product += value * (asked[dim] as number)
      squares += value * value
    }
    return squares === 0 ? 0 : Math.max(0, product / Math.sqrt(squares))
  })
  return besideBest(cosines)
}

function besideBest(values: readonly number[]): number[] | undefined {
  const best = values.reduce((most, value) => Math.max(most, value), 0)
  return best === 0 ? undefined : values.map((value) => value / best)
}

/** Share of the pairs that are adjacent in the query and near each other in the page; nearer counts more. */
function proximityScores(
  { parts, terms, order }: RescoreInput,
  hits: readonly Hit[],
  window: number,
): number[] | undefined {
  const byText = new Map(terms.map((term, at) => [term.text, at] as const))
  const pairs = new Map<number, number>()
  let possible = 0
  const pairOf = (a: number, b: number) => Math.min(a, b) * terms.length + Math.max(a, b)
  for (let at = 0; at + 1 < order.length; at += 1) {
    const [a, b] = [byText.get(order[at] as string), byText.get(order[at + 1] as string)]
    if (a === undefined || b === undefined || a === b || pairs.has(pairOf(a, b))) continue
    const weight = Math.min((terms[a] as LookedUp).rarity, (terms[b] as LookedUp).rarity)
    pairs.set(pairOf(a, b), weight)
    possible += weight
  }
  if (possible === 0) return undefined
  const numbered = parts.map((_, segment) => new Map(terms.map(({ ids }, at) => [ids[segment] as number, at] as const)))
  return hits.map(({ segment, doc }) => {
    const near = nearPairs(
      (parts[segment] as IndexPart).segment,
      doc,
      numbered[segment] as Map<number, number>,
      window,
      pairs,
      pairOf,
    )
    let sum = 0
    for (const [pair, closeness] of near) sum += ((pairs.get(pair) as number) * closeness) / (closeness + 1)
    return sum / possible
  })
}

function nearPairs(
  segment: Segment,
  doc: number,
  numbered: ReadonlyMap<number, number>,
  window: number,
  pairs: ReadonlyMap<number, number>,
  pairOf: (a: number, b: number) => number,
): Map<number, number> {
  const near = new Map<number, number>()
  const length = readTokens(segment, doc, room)
  const recent: { term: number; at: number }[] = []
  for (let at = 0; at < length; at += 1) {
    const token = room[at] as number
    // Title and text are not neighbours.
    if (token < 0) recent.length = 0
    const term = token < 0 ? undefined : numbered.get(token)
    if (term === undefined) continue
    while (recent.length > 0 && at - (recent[0] as { at: number }).at > window) recent.shift()
    for (const before of recent) {
      const pair = pairOf(before.term, term)
      if (pairs.has(pair)) near.set(pair, (near.get(pair) ?? 0) + 1 / (at - before.at))
    }
    recent.push({ term, at })
  }
  return near
}

/** A term in more pages than this share of them, or in one only, says nothing about what the best pages share. */
const feedbackShareMax = 0.2

/** RM3: the terms that mark the best candidates are looked for in all of them. */
function feedbackScores(
  input: RescoreInput,
  found: readonly Rescored[],
  weights: RescoreWeights,
): number[] | undefined {
  const best = [...found]
    .sort((a, b) => b.total - a.total || a.hit.pageId - b.hit.pageId)
    .slice(0, weights.feedbackPages)
  const total = best.reduce((sum, one) => sum + one.total, 0)
  const shares = new Map<string, number>()
  for (const { hit, total: own } of best)
    for (const [text, share] of termShares((input.parts[hit.segment] as IndexPart).segment, hit.doc))
      shares.set(text, (shares.get(text) ?? 0) + (share * own) / total)
  const terms = [...shares]
    .map(([text, share]) => ({ share, term: input.lookUp(text) }))
    .filter(({ term }) => term.count >= 2 && term.count <= feedbackShareMax * input.docCount)
    .map(({ share, term }) => ({ term, weight: share * term.rarity }))
    .sort((a, b) => b.weight - a.weight || (a.term.text < b.term.text ? -1 : 1))
    .slice(0, weights.feedbackTerms)
  const weighted = input.parts.map(
    (_, segment) => new Map(terms.map(({ term, weight }) => [term.ids[segment] as number, weight] as const)),
  )
  return besideBest(
    found.map(({ hit }) =>
      weightOfTerms(
        (input.parts[hit.segment] as IndexPart).segment,
        hit.doc,
        weighted[hit.segment] as Map<number, number>,
      ),
    ),
  )
}

/** Few of the terms stand in a page: its own terms say which, and only those are looked up among millions of postings. */
function weightOfTerms(segment: Segment, doc: number, weights: ReadonlyMap<number, number>): number {
  const length = readTokens(segment, doc, room)
  const here = new Set<number>()
  // Of a long page not all terms are kept in order: then every one is looked up.
  if (length > keptTokensMax) for (const term of weights.keys()) here.add(term)
  else for (let at = 0; at < length; at += 1) if (weights.has(room[at] as number)) here.add(room[at] as number)
  let sum = 0
  for (const term of here) if (term >= 0) sum += (weights.get(term) as number) * impactOf(segment, term, doc)
  return sum
}

/** Saturating, and whatever the length of the page: a title alone must not speak louder than a text. */
function termShares(segment: Segment, doc: number): Map<string, number> {
  const length = readTokens(segment, doc, room)
  const counts = new Map<number, number>()
  for (let at = 0; at < length; at += 1)
    if ((room[at] as number) >= 0) counts.set(room[at] as number, (counts.get(room[at] as number) ?? 0) + 1)
  return new Map([...counts].map(([term, count]) => [termAt(segment.terms, term), count / (count + 1)] as const))
}

/** What a term is worth in a page, in 255ths; 0 where it does not occur. */
export function impactOf({ starts, docs, impacts }: Segment, term: number, doc: number): number {
  if (term < 0) return 0
  let [low, high] = [starts[term] as number, starts[term + 1] as number]
  const end = high
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((docs[middle] as number) < doc) low = middle + 1
    else high = middle
  }
  return low < end && docs[low] === doc ? (impacts[low] as number) : 0
}

/** Only the first so many are compared with each other: the others are not shown anyway. */
const comparedMax = 100

/** Pages that say the same lend each other their score: one of several that agree is worth more than one that is alone. */
function addNeighbours({ parts, space }: RescoreInput, found: Rescored[], weights: RescoreWeights): void {
  const { dims } = space as LatentSpace
  found.sort((a, b) => b.total - a.total || a.hit.pageId - b.hit.pageId)
  const compared = found.slice(0, comparedMax)
  const vectors = compared.map(({ hit }) => {
    const latent = parts[hit.segment]?.latent
    return latent ? unit(latent.subarray(hit.doc * dims, (hit.doc + 1) * dims)) : new Float32Array(dims)
  })
  const count = weights.neighbourCount
  const near = compared.map(() => ({ at: new Int32Array(count).fill(-1), cosine: new Float32Array(count) }))
  for (let a = 0; a < compared.length; a += 1)
    for (let b = a + 1; b < compared.length; b += 1) {
      const cosine = product(vectors[a] as Float32Array, vectors[b] as Float32Array)
      if (cosine <= 0) continue
      keepNearest(near[a] as Near, b, cosine)
      keepNearest(near[b] as Near, a, cosine)
    }
  const totals = compared.map(({ total }) => total)
  compared.forEach((one, at) => {
    const { at: others, cosine } = near[at] as Near
    let [sum, weight] = [0, 0]
    others.forEach((other, n) => {
      if (other < 0) return
      sum += (cosine[n] as number) * (totals[other] as number)
      weight += cosine[n] as number
    })
    one.parts.neighbours = weight === 0 ? 0 : sum / weight
    one.total += weights.neighbours * one.parts.neighbours
  })
}

type Near = { at: Int32Array; cosine: Float32Array }

function keepNearest({ at, cosine }: Near, other: number, value: number): void {
  let place = at.length - 1
  if (value <= (cosine[place] as number)) return
  while (place > 0 && (cosine[place - 1] as number) < value) {
    at[place] = at[place - 1] as number
    cosine[place] = cosine[place - 1] as number
    place -= 1
  }
  at[place] = other
  cosine[place] = value
}

function unit(vector: Int8Array): Float32Array {
  const squares = vector.reduce((sum, value) => sum + value * value, 0)
  const length = Math.sqrt(squares) || 1
  return Float32Array.from(vector, (value) => value / length)
}

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let dim = 0; dim < a.length; dim += 1) sum += (a[dim] as number) * (b[dim] as number)
  return sum
}
