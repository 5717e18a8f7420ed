import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { trustPower } from '../../packages/node/src/shops/match/rank-pages.ts'
import { defaultRescoring } from '../../packages/node/src/shops/match/rescore.ts'
import type { RescoreWeights } from '../../packages/node/src/shops/match/rescored.ts'
import { everydayQuestions } from './everyday-questions.ts'
import { type Collection, gradedQueries, measureRanking, openCollection, type Quality, tune } from './measure.ts'
import { createPlainBm25 } from './plain-bm25.ts'
import { readDocs, readQrels, readQueries } from './read-collection.ts'

const usage = `npx tsx bench/relevance/main.ts --collection NAME=DOCS,QUERIES,QRELS [--collection …] [--tune] [--json]
  How well match ranks collections that people have graded (SMART, TREC-like or JSON lines), beside plain BM25.
  --tune  with two collections: choose the weights on one, measure them on the other, and the reverse
`

type Row = { collection: string; ranking: string } & Quality & { beside: number }

const off: RescoreWeights = { ...defaultRescoring, latent: 0, proximity: 0, feedback: 0, neighbours: 0 }
const steps: readonly (readonly [name: string, weights: RescoreWeights])[] = [
  ['words, fields apart, asking dropped', off],
  ['… and latent space', { ...off, latent: defaultRescoring.latent }],
  ['… or feedback', { ...off, feedback: defaultRescoring.feedback }],
  ['… or proximity', { ...off, proximity: defaultRescoring.proximity }],
  ['… or neighbours', { ...off, neighbours: defaultRescoring.neighbours }],
  ['match', defaultRescoring],
]

/** Scores as sources have them, by chance: what trust costs when it knows nothing of the question. */
const anyTrust = (power: number) => (doc: number) => (0.5 + 0.5 * (((doc * 7_919) % 101) / 100)) ** power

function rowsOf(collection: Collection, tunedOnOther: readonly (readonly [string, RescoreWeights])[]): Row[] {
  const plain = createPlainBm25(collection.docs)
  const base = measureRanking(collection, (query) => plain(query, 1_000))
  const { rank } = openCollection(collection)
  const row = (ranking: string, quality: Quality): Row => ({
    collection: collection.name,
    ranking,
    ...quality,
    beside: quality.ndcg10 - base.ndcg10,
  })
  return [
    row('plain BM25', base),
    ...[...steps, ...tunedOnOther].map(([name, weights]) => row(name, measureRanking(collection, rank(weights)))),
    ...[trustPower, 0.3, 1].map((power) =>
      row(`match, trust to the power of ${power}`, measureRanking(collection, rank(defaultRescoring, anyTrust(power)))),
    ),
    row(
      'match, trust as weighed, and the floor',
      measureRanking(collection, rank(defaultRescoring, anyTrust(trustPower), true)),
    ),
  ]
}

async function readCollection(argument: string): Promise<Collection> {
  const [, name = '', files = ''] = /^([^=]+)=(.+)$/.exec(argument) ?? []
  const [docs, queries, qrels] = await Promise.all(
    files
      .split(',')
      .slice(0, 3)
      .map((path) => readFile(path, 'utf8')),
  )
  return { name, docs: readDocs(docs ?? ''), queries: readQueries(queries ?? ''), qrels: readQrels(qrels ?? '') }
}

/** Questions that people graded, and questions of everyday life, which neither collection answers. */
function floorText(collection: Collection): string {
  const { rank } = openCollection(collection)
  const answer = rank(defaultRescoring, () => 1, true)
  const asked = gradedQueries(collection)
  const answered = asked.filter(({ text }) => answer(text).length > 0).length
  const refused = everydayQuestions.filter((text) => answer(text).length === 0).length
  return `${collection.name}: ${answered} of ${asked.length} graded questions answered, ${refused} of ${everydayQuestions.length} everyday questions refused`
}

function table(rows: readonly Row[]): string {
  const cells = rows.map(({ collection, ranking, ndcg10, beside, map, recall100 }) =>
    [
      collection,
      ranking,
      ndcg10.toFixed(4),
      `${beside < 0 ? '' : '+'}${beside.toFixed(4)}`,
      map.toFixed(4),
      recall100.toFixed(4),
    ].join(' | '),
  )
  return ['collection | ranking | nDCG@10 | beside plain BM25 | MAP | recall@100', '---|---|---|---|---|---', ...cells]
    .map((line) => `| ${line} |\n`)
    .join('')
}

async function main(args: readonly string[]): Promise<number> {
  const flag = { type: 'boolean' } as const
  const { values } = parseArgs({
    args: [...args],
    options: { collection: { type: 'string', multiple: true }, tune: flag, json: flag },
  })
  if (!values.collection) {
    process.stderr.write(usage)
    return 2
  }
  const collections = await Promise.all(values.collection.map(readCollection))
  const tuned = values.tune ? collections.map((collection) => [collection.name, tune(collection)] as const) : []
  const rows = collections.flatMap((collection) =>
    rowsOf(
      collection,
      tuned
        .filter(([name]) => name !== collection.name)
        .map(([name, weights]) => [`tuned on ${name}`, weights] as const),
    ),
  )
  if (values.json) process.stdout.write(`${JSON.stringify({ rows, tuned: Object.fromEntries(tuned) })}\n`)
  else {
    process.stdout.write(table(rows))
    for (const collection of collections) process.stdout.write(`${floorText(collection)}\n`)
    for (const [name, weights] of tuned) process.stdout.write(`weights of ${name}: ${JSON.stringify(weights)}\n`)
  }
  return 0
}

if (process.argv[1]?.endsWith('relevance/main.ts')) process.exitCode = await main(process.argv.slice(2))
