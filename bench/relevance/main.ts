import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { buildSegment, type FieldWeights, usualWeights } from '../../packages/node/src/shops/match/build-segment.ts'
import { createMatchIndex } from '../../packages/node/src/shops/match/match-index.ts'
import { readQuery } from '../../packages/node/src/shops/match/read-query.ts'
import { averagePrecision, mean, ndcgAt, recallAt } from './measures.ts'
import {
  type CollectionDoc,
  type CollectionQuery,
  type Judgements,
  readDocs,
  readJudgements,
  readQueries,
} from './read-collection.ts'

const usage = `npx tsx bench/relevance/main.ts --docs FILE --queries FILE --qrels FILE [--json] [--weights k1,title,titleB,bodyB]
  How well the match index ranks a collection that people have judged: SMART, TREC-like or JSON lines.
`

type Quality = { documents: number; queries: number; ndcg10: number; map: number; recall100: number }

export function measureRelevance(
  docs: readonly CollectionDoc[],
  queries: readonly CollectionQuery[],
  judged: Judgements,
  weights: FieldWeights = usualWeights,
): Quality {
  const index = createMatchIndex(weights)
  const page = { domain: 'collection.test', language: '', licence: '', day: 0 }
  index.adopt(
    buildSegment(
      docs.map(({ title, text }, at) => ({ ...page, pageId: at + 1, title, text })),
      weights,
    ),
  )
  // A query nobody judged tells nothing about quality.
  const asked = queries.filter(({ id }) => [...(judged.get(id)?.values() ?? [])].some((grade) => grade > 0))
  const results = asked.map(({ id, text }) => {
    const { candidates } = index.search(readQuery(text), {}, 1_000)
    return {
      ranking: candidates.map(({ pageId }) => (docs[pageId - 1] as CollectionDoc).id),
      grades: judged.get(id) ?? new Map(),
    }
  })
  return {
    documents: docs.length,
    queries: asked.length,
    ndcg10: mean(results.map(({ ranking, grades }) => ndcgAt(10, ranking, grades))),
    map: mean(results.map(({ ranking, grades }) => averagePrecision(ranking, grades))),
    recall100: mean(results.map(({ ranking, grades }) => recallAt(100, ranking, grades))),
  }
}

async function main(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: { docs: text, queries: text, qrels: text, weights: text, json: { type: 'boolean' } },
  })
  if (!values.docs || !values.queries || !values.qrels) {
    process.stderr.write(usage)
    return 2
  }
  const [docs, queries, qrels] = await Promise.all(
    [values.docs, values.queries, values.qrels].map((path) => readFile(path, 'utf8')),
  )
  const [k1, titleWeight, titleB, bodyB] = (values.weights ?? '').split(',').map(Number)
  const weights = values.weights === undefined ? usualWeights : ({ k1, titleWeight, titleB, bodyB } as FieldWeights)
  const quality = measureRelevance(
    readDocs(docs ?? ''),
    readQueries(queries ?? ''),
    readJudgements(qrels ?? ''),
    weights,
  )
  if (values.json) process.stdout.write(`${JSON.stringify(quality)}\n`)
  else
    process.stdout.write(
      `${quality.documents} documents, ${quality.queries} judged queries\nnDCG@10 ${quality.ndcg10.toFixed(4)}  MAP ${quality.map.toFixed(4)}  recall@100 ${quality.recall100.toFixed(4)}\n`,
    )
  return 0
}

if (process.argv[1]?.endsWith('relevance/main.ts')) process.exitCode = await main(process.argv.slice(2))
