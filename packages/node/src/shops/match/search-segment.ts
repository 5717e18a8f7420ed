import { type DenseTerm, type DenseTerms, markBits, rangeBits } from './dense-terms.ts'
import type { Segment } from './segment.ts'
import { offerHit, type TopHits } from './top-hits.ts'

/** A term of the query in one segment: where its postings lie and what one 255th of its score is worth. */
export type QueryTerm = { term: number; weight: number }

export type Accepts = (doc: number) => boolean

type Cursor = {
  at: number
  end: number
  weight: number
  /** The most that this term and those before it can give. */
  ceiling: number
  peak: number
  dense: DenseTerm | undefined
}

const firstWindow = 1_024
const windowMax = 8_192

/** Room that one search after the other works in, so that none of them leaves garbage behind. */
export type Scratch = { scores: Int32Array; found: Uint16Array }

export function createScratch(): Scratch {
  return { scores: new Int32Array(windowMax), found: new Uint16Array(windowMax) }
}

/**
 * MaxScore by windows of neighbouring documents. Terms whose best possible scores together cannot lift a document into
 * the hits are only looked up for documents that the other terms, the essential ones, brought near enough; those are
 * summed up term by term. Scores are sums of whole numbers, so the order of adding does not matter and the result is
 * that of scoring everything.
 */
export function searchSegment(
  segment: Segment,
  /** Number of its first document over all segments. */
  first: number,
  terms: readonly QueryTerm[],
  dense: DenseTerms,
  hits: TopHits,
  accepts: Accepts,
  scratch: Scratch,
): void {
  const cursors = openCursors(segment, terms, dense)
  let essential = 0
  // Short at first: every window is measured against the hits of those before it.
  for (let size = firstWindow; ; size = Math.min(windowMax, size * 2)) {
    const threshold = hits.threshold
    while (essential < cursors.length && (cursors[essential] as Cursor).ceiling < threshold) essential += 1
    if (essential === cursors.length) return
    const base = nextDoc(segment.docs, cursors, essential)
    if (base >= segment.docCount) return
    const others = essential > 0 ? (cursors[essential - 1] as Cursor).ceiling : 0
    const needed = Math.max(1, threshold - others)
    let found = 0
    for (let i = essential; i < cursors.length; i += 1)
      found = addWindow(segment, cursors[i] as Cursor, base, size, needed, scratch, found)
    let least = threshold
    for (let i = 0; i < found; i += 1) {
      const offset = scratch.found[i] as number
      const doc = base + offset
      const score = addOthers(segment, cursors, essential, doc, scratch.scores[offset] as number, least)
      if (score < least || !accepts(doc)) continue
      offerHit(hits, score, first + doc)
      least = hits.threshold
    }
    scratch.scores.fill(0, 0, size)
  }
}

/** Weakest first. */
function openCursors({ starts, peaks }: Segment, terms: readonly QueryTerm[], dense: DenseTerms): Cursor[] {
  const cursors = terms.map(({ term, weight }): Cursor => {
    const peak = weight * (peaks[term] as number)
    const [at, end] = [starts[term] as number, starts[term + 1] as number]
    return { at, end, weight, peak, ceiling: 0, dense: dense.of(term) }
  })
  cursors.sort((a, b) => a.peak - b.peak)
  let sum = 0
  for (const cursor of cursors) {
    sum += cursor.peak
    cursor.ceiling = sum
  }
  return cursors
}

function nextDoc(docs: Uint32Array, cursors: readonly Cursor[], from: number): number {
  let least = 0xffff_ffff
  for (let i = from; i < cursors.length; i += 1) {
    const { at, end } = cursors[i] as Cursor
    if (at < end && (docs[at] as number) < least) least = docs[at] as number
  }
  return least
}

/** Adds a term to the scores of a window; documents that reach `needed` are listed once. */
function addWindow(
  { docs, impacts }: Segment,
  cursor: Cursor,
  base: number,
  size: number,
  needed: number,
  { scores, found }: Scratch,
  foundBefore: number,
): number {
  const { weight } = cursor
  const stop = gallop(docs, cursor.at, cursor.end, base + size)
  let count = foundBefore
  for (let at = cursor.at; at < stop; at += 1) {
    const offset = ((docs[at] as number) - base) | 0
    const before = scores[offset] as number
    const score = (before + Math.imul(weight, impacts[at] as number)) | 0
    scores[offset] = score
    if (score >= needed && before < needed) {
      found[count] = offset
      count += 1
    }
  }
  cursor.at = stop
  return count
}

/** The whole score of a document, or what is known of it when it can no longer reach `least`. */
function addOthers(
  { docs, impacts }: Segment,
  cursors: readonly Cursor[],
  essential: number,
  doc: number,
  known: number,
  least: number,
): number {
  let score = known
  for (let i = essential - 1; i >= 0; i -= 1) {
    const cursor = cursors[i] as Cursor
    if (score + cursor.ceiling < least) return score
    const { dense, weight, end } = cursor
    let from = cursor.at
    if (dense) {
      const best = weight * (dense.maxima[doc >> rangeBits] as number)
      if (best === 0) continue
      if (score + best + cursor.ceiling - cursor.peak < least) return score
      const marked = dense.marks[doc >> markBits] as number
      if (marked > from) from = marked
    }
    const at = gallop(docs, from, end, doc)
    if (at < end && docs[at] === doc) score += weight * (impacts[at] as number)
  }
  return score
}

/** First posting at or after a document: doubling steps, then halving ones, for it is mostly near. */
function gallop(docs: Uint32Array, from: number, end: number, doc: number): number {
  if (from >= end || (docs[from] as number) >= doc) return from
  let step = 1
  let low = from
  while (low + step < end && (docs[low + step] as number) < doc) {
    low += step
    step *= 2
  }
  let high = Math.min(end, low + step)
  low += 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((docs[middle] as number) < doc) low = middle + 1
    else high = middle
  }
  return low
}
