export { contentTypes, type PageProblem, readPage } from './read-page.ts'
export { isStorable } from './storable.ts'
export { normalText } from './text-digest.ts'
export { isNearCopy, parseSketch, type Sketch } from './text-sketch.ts'
