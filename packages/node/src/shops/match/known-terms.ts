import type { LookedUp } from './rescore.ts'
import { type Segment, termAt, termCount } from './segment.ts'

/** Terms that were looked up over all segments: those that mark good pages are much the same from one search to the next. */
export type KnownTerms = {
  /** The number it has here, whichever segment it is named by. */
  numberOf(place: number, term: number): number
  at(number: number): LookedUp
  size(): number
}

export function createKnownTerms(segments: readonly Segment[], lookUp: (text: string) => LookedUp): KnownTerms {
  const known: LookedUp[] = []
  // By segment and term, one more than the number: memory that is zero is only taken where it is written to.
  const numbers = segments.map(({ terms }) => new Int32Array(termCount(terms)))
  return {
    numberOf: (place, term) => {
      const before = (numbers[place] as Int32Array)[term] as number
      if (before > 0) return before - 1
      const found = lookUp(termAt((segments[place] as Segment).terms, term))
      const number = known.push(found)
      found.ids.forEach((id, at) => {
        if (id >= 0) (numbers[at] as Int32Array)[id] = number
      })
      return number - 1
    },
    at: (number) => known[number] as LookedUp,
    size: () => known.length,
  }
}
