import { feedbackScores } from './feedback-scores.ts'
import { projectQuery } from './latent-space.ts'
import { addNeighbours } from './neighbour-scores.ts'
import { readWords } from './query-words.ts'
import { readCandidates } from './read-candidates.ts'
import {
  besideBest,
  byTotal,
  type Rescored,
  type RescoreInput,
  type RescoreWeights,
  type ScoreParts,
} from './rescored.ts'
import type { Hit } from './top-hits.ts'

export const defaultRescoring: RescoreWeights = {
  latent: 0.2,
  proximity: 0.2,
  proximityWindow: 4,
  feedback: 0.15,
  feedbackPages: 10,
  feedbackTerms: 30,
  neighbours: 0.3,
  neighbourCount: 5,
}

/** The candidates in a new order: by their words, what they mean, how near the words are, and what the best of them share. */
export function rescore(input: RescoreInput, hits: readonly Hit[], weights = defaultRescoring): Rescored[] {
  const best = hits.reduce((most, { score }) => Math.max(most, score), 1)
  const tokens = readCandidates(input.parts, hits)
  const words = readWords(input, hits, tokens, weights.proximityWindow)
  const found = hits.map((hit, at): Rescored => {
    const own = hit.score / best
    const parts = { words: own, latent: 0, proximity: 0, feedback: 0, neighbours: 0 }
    return { hit, at, parts, total: own, covered: words.covered[at] as number }
  })
  const add = (part: Exclude<keyof ScoreParts, 'words'>, values: ArrayLike<number> | undefined) => {
    if (!values) return
    for (const one of found) {
      one.parts[part] = values[one.at] as number
      one.total += weights[part] * (values[one.at] as number)
    }
  }
  if (weights.latent > 0) add('latent', latentScores(input, hits))
  if (weights.proximity > 0) add('proximity', words.near)
  if (weights.feedback > 0) add('feedback', feedbackScores(input, found, tokens, weights))
  found.sort(byTotal)
  return weights.neighbours > 0 && input.space ? addNeighbours(input, found, weights) : found
}

function latentScores({ parts, terms, space }: RescoreInput, hits: readonly Hit[]): Float64Array | undefined {
  const asked =
    space &&
    projectQuery(
      space,
      terms.map(({ text, times }) => [text, times] as const),
    )
  if (!space || !asked) return undefined
  const cosines = new Float64Array(hits.length)
  for (let at = 0; at < hits.length; at += 1) {
    const { segment, doc } = hits[at] as Hit
    const latent = parts[segment]?.latent
    if (!latent) continue
    const from = doc * space.dims
    let product = 0
    let squares = 0
    for (let dim = 0; dim < space.dims; dim += 1) {
      const value = latent[from + dim] as number
      product += value * (asked[dim] as number)
      squares += Math.imul(value, value)
    }
    if (squares > 0 && product > 0) cosines[at] = product / Math.sqrt(squares)
  }
  return besideBest(cosines)
}
