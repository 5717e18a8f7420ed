import { markedMax, withMarks } from './mark-terms.ts'
import type { CandidateTokens } from './read-candidates.ts'
import { impactOf, type LookedUp, postingsOf, type RescoreInput } from './rescored.ts'
import { weightOf } from './term-weights.ts'
import { keptTokensMax } from './token-stream.ts'
import type { Hit } from './top-hits.ts'

/** Pairs of terms that are adjacent in the query, each once, with what they are worth. */
type Pairs = { numbers: Int16Array; weights: number[]; possible: number; terms: number }

type QueryWords = {
  /** Weight of the terms of the query that stand in each page. */
  covered: Float64Array
  /** Share of the pairs that are adjacent in the query and near each other in the page; nearer counts more. */
  near: Float64Array | undefined
}

const met = new Uint8Array(markedMax)

/** Reads each candidate once for what it says of the terms of the query themselves. */
export function readWords(
  input: RescoreInput,
  hits: readonly Hit[],
  { tokens, starts }: CandidateTokens,
  window: number,
): QueryWords {
  const { parts, terms } = input
  const pairs = pairsOf(input)
  const weights = Float64Array.from(terms, ({ times, rarity }) => weightOf(times, rarity))
  const covered = new Float64Array(hits.length)
  const near = pairs.possible === 0 ? undefined : new Float64Array(hits.length)
  const closeness = new Float64Array(pairs.weights.length)
  parts.forEach((part, place) => {
    const ids = terms.map(({ ids: all }) => all[place] as number)
    withMarks(part.segment, ids, (marks) => {
      for (let at = 0; at < hits.length; at += 1) {
        const { segment, doc } = hits[at] as Hit
        if (segment !== place) continue
        const [from, to] = [starts[at] as number, starts[at + 1] as number]
        met.fill(0, 0, terms.length)
        const nearness = readPage(tokens, from, to, marks, pairs, window, closeness)
        // Of a long page not all terms are kept in order.
        if (to - from > keptTokensMax)
          for (let term = 0; term < ids.length; term += 1)
            met[term] = impactOf(part.segment, postingsOf(part, ids[term] as number), doc) > 0 ? 1 : 0
        let sum = 0
        for (let term = 0; term < weights.length; term += 1) if (met[term] === 1) sum += weights[term] as number
        covered[at] = sum
        if (near) near[at] = nearness
      }
    })
  })
  return { covered, near }
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

/** Notes the terms that stand in the page in `met`, and returns how near each other they are. */
function readPage(
  tokens: Int32Array,
  from: number,
  to: number,
  marks: Uint8Array,
  { numbers, weights, possible, terms }: Pairs,
  window: number,
  closeness: Float64Array,
): number {
  closeness.fill(0)
  for (let at = from; at < to; at += 1) {
    const token = tokens[at] as number
    const term = token < 0 ? 0 : (marks[token] as number)
    if (term === 0) continue
    met[term - 1] = 1
    for (let before = at - 1; before >= from && at - before <= window; before -= 1) {
      const other = tokens[before] as number
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
