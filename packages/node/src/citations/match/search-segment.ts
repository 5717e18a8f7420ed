import type { Segment } from './segment.ts'
import type { TopHits } from './top-hits.ts'

/** A term of the query in one segment: where its postings lie and what one 255th of its score is worth. */
export type QueryTerm = { term: number; weight: number }

type Cursor = { at: number; end: number; weight: number; peak: number }

const gone = 0xffff_ffff

/**
 * MaxScore: terms whose best possible scores together cannot lift a document into the hits are only looked up for
 * documents that the other terms found. Scores are sums of whole numbers, so the order of adding does not matter and
 * the result is that of scoring everything.
 */
export function searchSegment(
  segment: Segment,
  index: number,
  terms: readonly QueryTerm[],
  hits: TopHits,
  accepts: (doc: number) => boolean,
): void {
  const cursors = terms.map((term) => cursorOf(segment, term)).sort((a, b) => a.peak - b.peak)
  const ceilings = cumulativePeaks(cursors)
  // The first cursor that can still lift a document into the hits by itself and those before it.
  let essential = 0
  const { docs, impacts } = segment
  for (;;) {
    const threshold = hits.threshold()
    while (essential < cursors.length && (ceilings[essential] as number) < threshold) essential += 1
    if (essential === cursors.length) return
    const doc = nextDoc(docs, cursors, essential)
    if (doc === gone) return
    let score = 0
    for (let i = essential; i < cursors.length; i += 1) {
      const cursor = cursors[i] as Cursor
      if (cursor.at < cursor.end && docs[cursor.at] === doc) {
        score += cursor.weight * (impacts[cursor.at] as number)
        cursor.at += 1
      }
    }
    for (let i = essential - 1; i >= 0 && score + (ceilings[i] as number) >= threshold; i -= 1) {
      const cursor = cursors[i] as Cursor
      cursor.at = gallop(docs, cursor.at, cursor.end, doc)
      if (cursor.at < cursor.end && docs[cursor.at] === doc) score += cursor.weight * (impacts[cursor.at] as number)
    }
    if (score >= threshold && accepts(doc))
      hits.offer({ pageId: segment.pageIds[doc] as number, score, segment: index, doc })
  }
}

function cursorOf({ starts, peaks }: Segment, { term, weight }: QueryTerm): Cursor {
  const peak = weight * (peaks[term] as number)
  return { at: starts[term] as number, end: starts[term + 1] as number, weight, peak }
}

function cumulativePeaks(cursors: readonly Cursor[]): number[] {
  let sum = 0
  return cursors.map(({ peak }) => {
    sum += peak
    return sum
  })
}

function nextDoc(docs: Uint32Array, cursors: readonly Cursor[], from: number): number {
  let least = gone
  for (let i = from; i < cursors.length; i += 1) {
    const { at, end } = cursors[i] as Cursor
    if (at < end && (docs[at] as number) < least) least = docs[at] as number
  }
  return least
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
