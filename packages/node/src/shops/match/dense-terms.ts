import type { Segment } from './segment.ts'

/** Documents that share one bound. Few enough that the bound is nearly the score of the best of them. */
export const rangeBits = 4
/** Documents between two marks into the postings of a dense term. */
export const markBits = 8
/** A term in every so many documents, or more of them, has bounds laid out ahead. */
const denseFrom = 256

export type DenseTerm = {
  /** Highest impact in each range of documents. */
  maxima: Uint8Array
  /** First posting at or after each mark. */
  marks: Uint32Array
}

export type DenseTerms = {
  /** Undefined for a term that is rare enough to be read posting by posting. */
  of(term: number): DenseTerm | undefined
}

/** Laid out when a term is first asked for and kept: about a thousand words of a language are this common. */
export function createDenseTerms(segment: Segment): DenseTerms {
  const known = new Map<number, DenseTerm>()
  const { starts, docCount } = segment
  return {
    of: (term) => {
      if (((starts[term + 1] as number) - (starts[term] as number)) * denseFrom < docCount) return undefined
      let dense = known.get(term)
      if (dense === undefined) {
        dense = layOut(segment, term)
        known.set(term, dense)
      }
      return dense
    },
  }
}

function layOut({ starts, docs, impacts, docCount }: Segment, term: number): DenseTerm {
  const maxima = new Uint8Array((docCount >> rangeBits) + 1)
  const marks = new Uint32Array((docCount >> markBits) + 1)
  const end = starts[term + 1] as number
  let nextMark = 0
  for (let at = starts[term] as number; at < end; at += 1) {
    const doc = docs[at] as number
    while (nextMark << markBits <= doc) {
      marks[nextMark] = at
      nextMark += 1
    }
    const range = doc >> rangeBits
    if ((impacts[at] as number) > (maxima[range] as number)) maxima[range] = impacts[at] as number
  }
  marks.fill(end, nextMark)
  return { maxima, marks }
}
