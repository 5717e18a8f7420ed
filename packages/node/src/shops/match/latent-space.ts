import { createGrowing } from './growing.ts'
import { createNameTable } from './name-table.ts'
import { findTerm, type Segment, termAt, termCount } from './segment.ts'
import { orthonormalize, timesMatrix, timesTransposed } from './sparse-matrix.ts'
import { createTokenRoom, readTokens } from './token-stream.ts'

/**
 * Latent semantic indexing of the corpus itself: the directions in which its pages differ most. Two pages that use
 * different words for the same thing lie near each other in it. Nothing is learnt from outside.
 */
export type LatentSpace = {
  dims: number
  /** Pages it was trained on, of how many there were. */
  trainedOn: number
  /** Row of a term; terms of a single page have none. */
  rows: ReadonlyMap<string, number>
  vectors: Float32Array
  /** Rarity of each row's term. */
  rarity: Float32Array
}

export const latentDims = 64
const sampleMax = 50_000
const rowsMax = 50_000
const iterations = 3
/** Work between two pauses, so that a search never waits long for it. */
const docsAtOnce = 200

/** Pauses often, so that it can be run in slices while questions come. Undefined where there is too little to learn from. */
export function* trainLatentSpace(
  segments: readonly Segment[],
  dims = latentDims,
): Generator<undefined, LatentSpace | undefined> {
  const sample = yield* sampleCounts(segments)
  const docs = sample.starts.length - 1
  if (docs < 4 * dims) return undefined
  const rows = chooseRows(sample.docCounts, docs)
  const matrix = weighed(sample, rows)
  let terms = startVectors(rows.rarity.length, dims)
  for (let round = 0; round < iterations; round += 1) {
    const pages = yield* timesMatrix(matrix, terms, dims, docsAtOnce)
    yield* orthonormalize(pages, dims)
    terms = yield* timesTransposed(matrix, pages, rows.rarity.length, dims, docsAtOnce)
  }
  yield* orthonormalize(terms, dims)
  const names = sample.names
  const numbered = new Map(rows.terms.map((term, row) => [names[term] as string, row] as const))
  return { dims, trainedOn: docs, rows: numbered, vectors: terms, rarity: rows.rarity }
}

type Sample = {
  names: readonly string[]
  docCounts: Uint32Array
  /** Terms and how often each occurs in the page, page after page. */
  starts: Uint32Array
  terms: Uint32Array
  counts: Uint16Array
}

function* sampleCounts(segments: readonly Segment[]): Generator<undefined, Sample> {
  const total = segments.reduce((sum, { docCount }) => sum + docCount, 0)
  const stride = Math.max(1, Math.ceil(total / sampleMax))
  const names = createNameTable()
  const docCounts = createGrowing(Uint32Array)
  const [starts, terms, counts] = [createGrowing(Uint32Array), createGrowing(Uint32Array), createGrowing(Uint16Array)]
  const room = createTokenRoom()
  starts.push(0)
  for (const segment of segments) {
    const known = new Int32Array(termCount(segment.terms)).fill(-1)
    const numberOf = (term: number): number => {
      if ((known[term] as number) < 0) known[term] = names.idOf(termAt(segment.terms, term))
      return known[term] as number
    }
    for (let doc = 0, since = 0; doc < segment.docCount; doc += stride, since += 1) {
      const seen = countTokens(room, readTokens(segment, doc, room))
      for (const [term, count] of seen) {
        const number = numberOf(term)
        while (docCounts.length() <= number) docCounts.push(0)
        docCounts.set(number, docCounts.at(number) + 1)
        terms.push(number)
        counts.push(count)
      }
      starts.push(terms.length())
      if (since % docsAtOnce === docsAtOnce - 1) yield
    }
  }
  return {
    names: names.all(),
    docCounts: docCounts.view(),
    starts: starts.view(),
    terms: terms.view(),
    counts: counts.view(),
  }
}

function countTokens(room: Int32Array, length: number): Map<number, number> {
  const seen = new Map<number, number>()
  for (let at = 0; at < length; at += 1) {
    const term = room[at] as number
    if (term >= 0) seen.set(term, (seen.get(term) ?? 0) + 1)
  }
  return seen
}

/** A term of one page says nothing about how pages hang together; of the others the commonest are kept. */
function chooseRows(docCounts: Uint32Array, docs: number) {
  const terms = [...docCounts.keys()].filter((term) => (docCounts[term] as number) >= 2)
  if (terms.length > rowsMax) {
    terms.sort((a, b) => (docCounts[b] as number) - (docCounts[a] as number) || a - b)
    terms.length = rowsMax
  }
  const rowOf = new Int32Array(docCounts.length).fill(-1)
  terms.forEach((term, row) => {
    rowOf[term] = row
  })
  const rarity = Float32Array.from(terms, (term) => rarityOf(docCounts[term] as number, docs))
  return { terms, rowOf, rarity }
}

const rarityOf = (count: number, docs: number) => Math.log(1 + (docs - count + 0.5) / (count + 0.5))

function weighed(sample: Sample, { rowOf, rarity }: ReturnType<typeof chooseRows>) {
  const [starts, columns, weights] = [
    new Uint32Array(sample.starts.length),
    createGrowing(Uint32Array),
    createGrowing(Float32Array),
  ]
  for (let doc = 0; doc + 1 < sample.starts.length; doc += 1) {
    const from = weights.length()
    let squares = 0
    for (let at = sample.starts[doc] as number; at < (sample.starts[doc + 1] as number); at += 1) {
      const row = rowOf[sample.terms[at] as number] as number
      if (row < 0) continue
      const weight = (1 + Math.log(sample.counts[at] as number)) * (rarity[row] as number)
      columns.push(row)
      weights.push(weight)
      squares += weight * weight
    }
    const length = Math.sqrt(squares) || 1
    for (let at = from; at < weights.length(); at += 1) weights.set(at, weights.at(at) / length)
    starts[doc + 1] = weights.length()
  }
  return { starts, columns: columns.view(), weights: weights.view() }
}

/** The same for the same size: training twice gives the same space. */
function startVectors(rows: number, dims: number): Float32Array {
  let state = 1
  return Float32Array.from({ length: rows * dims }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296 - 0.5
  })
}

/** Where the pages of a segment lie: `dims` bytes each, only their direction counts. */
export function* projectSegment(space: LatentSpace, segment: Segment): Generator<undefined, Int8Array> {
  const { dims, vectors, rarity } = space
  const rowOf = new Int32Array(termCount(segment.terms)).fill(-1)
  for (const [name, row] of space.rows) {
    const term = findTerm(segment.terms, name)
    if (term >= 0) rowOf[term] = row
  }
  const projected = new Int8Array(segment.docCount * dims)
  const room = createTokenRoom()
  const sum = new Float32Array(dims)
  for (let doc = 0; doc < segment.docCount; doc += 1) {
    sum.fill(0)
    for (const [term, count] of countTokens(room, readTokens(segment, doc, room))) {
      const row = rowOf[term] as number
      if (row < 0) continue
      const weight = (1 + Math.log(count)) * (rarity[row] as number)
      for (let dim = 0; dim < dims; dim += 1)
        sum[dim] = (sum[dim] as number) + weight * (vectors[row * dims + dim] as number)
    }
    quantize(sum, projected, doc * dims)
    if (doc % docsAtOnce === docsAtOnce - 1) yield
  }
  return projected
}

function quantize(from: Float32Array, to: Int8Array, at: number): void {
  let most = 0
  for (const value of from) most = Math.max(most, Math.abs(value))
  if (most === 0) return
  for (let dim = 0; dim < from.length; dim += 1) to[at + dim] = Math.round((127 * (from[dim] as number)) / most)
}

/** Direction of a query, from its terms and their weights; undefined when none of them is known to the space. */
export function projectQuery(
  { dims, rows, vectors, rarity }: LatentSpace,
  terms: Iterable<readonly [term: string, times: number]>,
): Float32Array | undefined {
  const sum = new Float32Array(dims)
  let known = false
  for (const [term, times] of terms) {
    const row = rows.get(term)
    if (row === undefined) continue
    known = true
    const weight = times * (rarity[row] as number)
    for (let dim = 0; dim < dims; dim += 1)
      sum[dim] = (sum[dim] as number) + weight * (vectors[row * dims + dim] as number)
  }
  return known ? sum : undefined
}
