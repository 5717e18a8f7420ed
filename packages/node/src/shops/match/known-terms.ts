import { createGrowing } from './growing.ts'
import type { LookedUp } from './rescored.ts'
import { type Segment, termAt, termCount } from './segment.ts'

/** Terms that were looked up over all segments: those that mark good pages are much the same from one search to the next. */
export type KnownTerms = {
  /** The number it has here, whichever segment it is named by. */
  numberOf(place: number, term: number): number
  at(number: number): LookedUp
  /** What it tells about the pages it is in: its rarity, or 0. */
  worth(number: number): number
  size(): number
}

/** A term in more pages than this share of them, or in one only, says nothing about what the best pages share. */
const worthShareMax = 0.2

export function createKnownTerms(
  segments: readonly Segment[],
  docCount: number,
  lookUp: (text: string) => LookedUp,
): KnownTerms {
  const known: LookedUp[] = []
  // Beside the terms themselves, which lie far apart in memory.
  const worths = createGrowing(Float64Array)
  // By segment and term, one more than the number: memory that is zero is only taken where it is written to.
  const numbers = segments.map(({ terms }) => new Int32Array(termCount(terms)))
  return {
    numberOf: (place, term) => {
      const before = (numbers[place] as Int32Array)[term] as number
      if (before > 0) return before - 1
      const found = lookUp(termAt((segments[place] as Segment).terms, term))
      const number = known.push(found)
      worths.push(found.count >= 2 && found.count <= worthShareMax * docCount ? found.rarity : 0)
      found.ids.forEach((id, at) => {
        if (id >= 0) (numbers[at] as Int32Array)[id] = number
      })
      return number - 1
    },
    at: (number) => known[number] as LookedUp,
    worth: worths.at,
    size: () => known.length,
  }
}
