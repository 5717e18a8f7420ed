import { silentLog } from '@assay/till/kernel/log'
import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MatchEngine } from './match-engine.ts'
import { type ContractServer, openContractServer } from './opensearch.fixture.ts'
import { openOpenSearchEngine } from './opensearch-adapter.ts'
import { openPostgresEngine } from './postgres-engine.ts'
import { openThreadEngine } from './thread-engine-adapter.ts'

const docs = [
  {
    pageId: 3,
    domain: 'bread.org',
    title: 'Sourdough bread',
    text: 'Flour, water and a starter. The crust cracks.',
    language: 'en',
    licence: 'CC-BY-4.0',
    type: 'html',
    day: 100,
  },
  {
    pageId: 5,
    domain: 'de.bread.org',
    title: 'Brot',
    text: "Mehl und Wasser: sourdough o'clock.",
    language: 'de',
    licence: '',
    type: 'pdf',
    day: 200,
  },
  {
    pageId: 8,
    domain: 'news.com',
    title: 'Short squeeze',
    text: 'Short interest rose; bread prices did not.',
    language: 'en',
    licence: '',
    type: 'html',
    day: 300,
  },
]

let db: TestDatabase
let cluster: ContractServer
const engines: MatchEngine[] = []
/** A real cluster, where there is one: `OPENSEARCH_TEST_URL=http://127.0.0.1:9200`. */
const realUrl = process.env['OPENSEARCH_TEST_URL']

beforeAll(async () => {
  db = await openTestDatabase()
  for (const [domain, registrable] of [
    ['bread.org', 'bread.org'],
    ['de.bread.org', 'bread.org'],
    ['news.com', 'news.com'],
  ])
    await db.database.query(
      `insert into source (domain, registrable, display, origin, state, cite_score, registered_at, updated_at)
       values ($1, $2, $1, 'https://' || $1, 'registered', case when $1 = 'bread.org' then 80 else 20 end, now(), now())`,
      [domain, registrable],
    )
  cluster = await openContractServer()
  engines.push(
    openThreadEngine({ log: silentLog, onLost: () => {} }),
    openPostgresEngine(db.database),
    await openOpenSearchEngine({ url: cluster.url, index: 'pages', authorization: 'Basic dGVzdDp0ZXN0' }),
    ...(realUrl === undefined ? [] : [await openOpenSearchEngine({ url: realUrl, index: `assay-test-${Date.now()}` })]),
  )
  for (const engine of engines) {
    await engine.add(docs)
    await engine.setScores([
      ['bread.org', 80],
      ['de.bread.org', 20],
      ['news.com', 20],
    ])
  }
})
afterAll(async () => {
  for (const engine of engines) await engine.stop()
  await cluster?.close()
  await db?.close()
})

async function ofAll<Result>(work: (engine: MatchEngine) => Promise<Result>, expected: Result): Promise<void> {
  for (const engine of engines) expect(await work(engine), engine.name).toEqual(expected)
}
const idsOf =
  (query: string, filters = {}) =>
  async (engine: MatchEngine) =>
    (await engine.search(query, filters, 10)).candidates.map(({ pageId }) => pageId).sort()

test('every engine finds the same pages for the same words, and says which words it does not know', async () => {
  await ofAll(idsOf('sourdough breads'), [3, 5, 8])
  await ofAll(idsOf('crusts'), [3])
  await ofAll(idsOf("o'clock"), [5])
  await ofAll(async (engine) => (await engine.search('bread zyzzyva', {}, 10)).unknown, ['zyzzyva'])
  await ofAll(idsOf('zyzzyva'), [])
  for (const engine of engines) {
    const [first, ...others] = (await engine.search('sourdough starter', {}, 10)).candidates
    expect(first, engine.name).toMatchObject({ pageId: 3, domain: 'bread.org', covered: 1 })
    for (const { covered, relevance } of others) {
      expect(covered).toBeLessThan(1)
      expect(relevance).toBeLessThanOrEqual(first?.relevance ?? 0)
    }
  }
})

test('every filter means the same in every engine', async () => {
  await ofAll(idsOf('bread sourdough', { domains: ['bread.org'] }), [3, 5])
  await ofAll(idsOf('bread sourdough', { domains: ['de.bread.org'] }), [5])
  await ofAll(idsOf('bread sourdough', { notUnder: ['bread.org'] }), [8])
  await ofAll(idsOf('bread sourdough', { language: 'de' }), [5])
  await ofAll(idsOf('bread sourdough', { licences: ['cc-by-4.0'] }), [3])
  await ofAll(idsOf('bread sourdough', { types: ['pdf'] }), [5])
  await ofAll(idsOf('bread sourdough', { sinceDay: 200, untilDay: 299 }), [5])
  await ofAll(idsOf('bread sourdough', { minScore: 50 }), [3])
})

test('every engine knows how far it is, and takes the same pages twice', async () => {
  await ofAll((engine) => engine.size().then(({ docs }) => docs), 3)
  const again = await openOpenSearchEngine({ url: cluster.url, index: 'pages', authorization: 'Basic dGVzdDp0ZXN0' })
  for (const engine of [engines[1] as MatchEngine, again]) {
    expect(await engine.indexedTo(), engine.name).toBe(8)
    await engine.add(docs)
    expect((await engine.size()).docs, engine.name).toBe(3)
  }
})

test('a cluster that does not take a page keeps the place, and one that refuses says so', async () => {
  const engine = await openOpenSearchEngine({ url: cluster.url, index: 'failing', authorization: 'Basic dGVzdDp0ZXN0' })
  cluster.refuseNext()
  await expect(engine.add(docs)).rejects.toThrow('OpenSearch did not take all pages')
  expect(await engine.indexedTo()).toBe(0)
  await expect(openOpenSearchEngine({ url: cluster.url, index: 'pages' })).rejects.toThrow('OpenSearch answers 401')
})
