import { buildSegment, defaultWeights, type FieldWeights } from '../../packages/node/src/shops/match/build-segment.ts'
import { createMatchIndex, type MatchIndex } from '../../packages/node/src/shops/match/match-index.ts'
import { readQuery } from '../../packages/node/src/shops/match/read-query.ts'
import { aboveFloor } from '../../packages/node/src/shops/match/relevance-floor.ts'
import { defaultRescoring } from '../../packages/node/src/shops/match/rescore.ts'
import type { RescoreWeights } from '../../packages/node/src/shops/match/rescored.ts'
import { averagePrecision, mean, ndcgAt, recallAt } from './measures.ts'
import type { CollectionDoc, CollectionQuery, Qrels } from './read-collection.ts'

export type Collection = { name: string; docs: CollectionDoc[]; queries: CollectionQuery[]; qrels: Qrels }

export type Quality = { documents: number; queries: number; ndcg10: number; map: number; recall100: number }

/** As many as the shop looks at. */
const candidatesMax = 200

/** A query nobody graded tells nothing about quality. */
export const gradedQueries = ({ queries, qrels }: Collection) =>
  queries.filter(({ id }) => [...(qrels.get(id)?.values() ?? [])].some((grade) => grade > 0))

export function measureRanking(collection: Collection, rank: (query: string) => readonly string[]): Quality {
  const asked = gradedQueries(collection)
  const results = asked.map(({ id, text }) => ({
    ranking: rank(text),
    grades: collection.qrels.get(id) ?? new Map<string, number>(),
  }))
  return {
    documents: collection.docs.length,
    queries: asked.length,
    ndcg10: mean(results.map(({ ranking, grades }) => ndcgAt(10, ranking, grades))),
    map: mean(results.map(({ ranking, grades }) => averagePrecision(ranking, grades))),
    recall100: mean(results.map(({ ranking, grades }) => recallAt(100, ranking, grades))),
  }
}

/** One index for many rescorings: the weights are read at every search. */
export function openCollection({ docs }: Collection, fields: FieldWeights = defaultWeights) {
  const rescoring: RescoreWeights = { ...defaultRescoring }
  const index: MatchIndex = createMatchIndex({ fields, rescoring })
  const page = { domain: 'collection.test', language: '', licence: '', type: 'html', day: 0 }
  index.adopt(
    buildSegment(
      docs.map(({ title, text }, at) => ({ ...page, pageId: at + 1, title, text })),
      fields,
    ),
  )
  for (const _ of index.train());
  return {
    index,
    /** `trust` multiplies what the search gives, by the place of the document in the collection. */
    rank: (weights: RescoreWeights, trust: (doc: number) => number = () => 1, floor = false) => {
      Object.assign(rescoring, weights)
      return (text: string): string[] => {
        const query = readQuery(text)
        const { candidates } = index.search(query, {}, candidatesMax)
        return (floor ? aboveFloor(candidates, query.terms.size) : candidates)
          .map(({ pageId, relevance }) => ({ doc: pageId - 1, score: relevance * trust(pageId - 1) }))
          .sort((a, b) => b.score - a.score)
          .map(({ doc }) => (docs[doc] as CollectionDoc).id)
      }
    },
  }
}

const grid: { [Name in keyof RescoreWeights]: readonly number[] } = {
  latent: [0, 0.1, 0.2, 0.3, 0.4, 0.6],
  feedback: [0, 0.1, 0.2, 0.3, 0.45, 0.6],
  proximity: [0, 0.1, 0.2, 0.3],
  neighbours: [0, 0.15, 0.3, 0.5, 0.8],
  feedbackPages: [3, 5, 8, 12],
  feedbackTerms: [10, 15, 30, 50],
  proximityWindow: [3, 5, 8],
  neighbourCount: [3, 5, 8],
}

/** Where tuning starts: every finding counts the same. */
const even: RescoreWeights = {
  latent: 0.2,
  feedback: 0.2,
  proximity: 0.2,
  neighbours: 0.2,
  feedbackPages: 8,
  feedbackTerms: 30,
  proximityWindow: 5,
  neighbourCount: 5,
}
/** A step counts when it gains more than twice its standard error over the questions: less is chance, and lost elsewhere. */
function isBetter(tried: readonly number[], best: readonly number[]): boolean {
  const gains = tried.map((value, at) => value - (best[at] as number))
  const gain = mean(gains)
  const spread = mean(gains.map((one) => (one - gain) ** 2))
  return gain > 2 * Math.sqrt(spread / gains.length)
}

/** One weight after the other, twice over, each at its best on this collection where that is more than chance. */
export function tune(collection: Collection, rounds = 2): RescoreWeights {
  const { rank } = openCollection(collection)
  const asked = gradedQueries(collection)
  const qualities = (weights: RescoreWeights) => {
    const answer = rank(weights)
    return asked.map(({ id, text }) => ndcgAt(10, answer(text), collection.qrels.get(id) ?? new Map()))
  }
  let best = even
  let most = qualities(best)
  for (let round = 0; round < rounds; round += 1)
    for (const name of Object.keys(grid) as (keyof RescoreWeights)[])
      for (const value of grid[name]) {
        const tried = { ...best, [name]: value }
        const reached = qualities(tried)
        if (isBetter(reached, most)) [best, most] = [tried, reached]
      }
  return best
}
