import type { Segment } from './segment.ts'

/** A byte for each term of a segment, all of them zero between two uses: asked far more often than a map could answer. */
const marksOf = new WeakMap<Segment, Uint8Array>()

/** More terms than a byte can tell apart are left out. */
export const markedMax = 255

/** Marks terms of a segment by their place in the list, from 1; a number below 0 stands for no term. */
export function withMarks(segment: Segment, terms: readonly number[], use: (marks: Uint8Array) => void): void {
  const marks = marksOf.get(segment) ?? new Uint8Array(segment.starts.length)
  marksOf.set(segment, marks)
  const marked = terms.slice(0, markedMax)
  marked.forEach((term, at) => {
    if (term >= 0) marks[term] = at + 1
  })
  try {
    use(marks)
  } finally {
    for (const term of marked) if (term >= 0) marks[term] = 0
  }
}
