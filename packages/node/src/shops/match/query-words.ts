import { withMarks } from './mark-terms.ts'
import { impactOf, type LookedUp, type RescoreInput } from './rescore.ts'
import type { Segment } from './segment.ts'
import { createTokenRoom, keptTokensMax, readTokens } from './token-stream.ts'
import type { Hit } from './top-hits.ts'

const room = createTokenRoom()

/** Pairs of terms that are adjacent in the query, each once, with what they are worth. */
type Pairs = { numbers: Int16Array; weights: number[]; possible: number; terms: number }

type QueryWords = {
  /** Page by page which terms of the query stand in it: 1 or 0 for each. */
  holds: Uint8Array
  /** Share of the pairs that are adjacent in the query and near each other in the page; nearer counts more. */
  near: Float64Array | undefined
}

/** Reads each candidate once for what it says of the terms of the query themselves. */
export function readWords(input: RescoreInput, hits: readonly Hit[], window: number): QueryWords {
  const { parts, terms } = input
  const pairs = pairsOf(input)
  const holds = new Uint8Array(hits.length * terms.length)
  const near = pairs.possible === 0 ? undefined : new Float64Array(hits.length)
  const closeness = new Float64Array(pairs.weights.length)
  parts.forEach(({ segment }, place) => {
    const ids = terms.map(({ ids: all }) => all[place] as number)
    withMarks(segment, ids, (marks) => {
      hits.forEach((hit, at) => {
        if (hit.segment !== place) return
        const length = readTokens(segment, hit.doc, room)
        const row = holds.subarray(at * terms.length, (at + 1) * terms.length)
        if (length > keptTokensMax) lookUpHeld(segment, ids, hit.doc, row)
        else markHeld(length, marks, row)
        if (near) near[at] = nearness(length, marks, pairs, window, closeness)
      })
    })
  })
  return { holds, near }
}

function pairsOf({ terms, order }: RescoreInput): Pairs {
  const byText = new Map(terms.map((term, at) => [term.text, at] as const))
  const numbers = new Int16Array(terms.length * terms.length).fill(-1)
  const weights: number[] = []
  let possible = 0
  for (let at = 0; at + 1 < order.length; at += 1) {
    const a = byText.get(order[at] as string)
    const b = byText.get(order[at + 1] as string)
    if (a === undefined || b === undefined || a === b || numbers[a * terms.length + b] !== -1) continue
    numbers[a * terms.length + b] = weights.length
    numbers[b * terms.length + a] = weights.length
    const weight = Math.min((terms[a] as LookedUp).rarity, (terms[b] as LookedUp).rarity)
    weights.push(weight)
    possible += weight
  }
  return { numbers, weights, possible, terms: terms.length }
}

function markHeld(length: number, marks: Uint8Array, row: Uint8Array): void {
  for (let at = 0; at < length; at += 1) {
    const token = room[at] as number
    if (token >= 0 && marks[token] !== 0) row[(marks[token] as number) - 1] = 1
  }
}

/** Of a long page not all terms are kept in order. */
function lookUpHeld(segment: Segment, ids: readonly number[], doc: number, row: Uint8Array): void {
  ids.forEach((id, term) => {
    if (impactOf(segment, id, doc) > 0) row[term] = 1
  })
}

function nearness(length: number, marks: Uint8Array, pairs: Pairs, window: number, closeness: Float64Array): number {
  const { numbers, weights, possible, terms } = pairs
  closeness.fill(0)
  for (let at = 1; at < length; at += 1) {
    const token = room[at] as number
    const term = token < 0 ? 0 : (marks[token] as number)
    if (term === 0) continue
    for (let before = at - 1; before >= 0 && at - before <= window; before -= 1) {
      const other = room[before] as number
      // Title and text are not neighbours.
      if (other < 0) break
      const mark = marks[other] as number
      if (mark === 0) continue
      const pair = numbers[(term - 1) * terms + mark - 1] as number
      if (pair >= 0) closeness[pair] = (closeness[pair] as number) + 1 / (at - before)
    }
  }
  let sum = 0
  for (let pair = 0; pair < weights.length; pair += 1) {
    const near = closeness[pair] as number
    sum += ((weights[pair] as number) * near) / (near + 1)
  }
  return sum / possible
}
