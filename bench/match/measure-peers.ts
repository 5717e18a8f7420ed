import MiniSearch from 'minisearch'
import { createMatchIndex } from '../../packages/node/src/shops/match/match-index.ts'
import { readQuery } from '../../packages/node/src/shops/match/read-query.ts'
import { openTestDatabase } from '../../packages/till/src/store/testing.ts'
import { percentiles } from '../percentiles.ts'
import { syntheticPages, syntheticQueries } from './synthetic-pages.ts'

type Measured = {
  engine: string
  pages: number
  build_s: number
  /** Of this process: what PostgreSQL uses is in separate processes and only shows in the time that passed. */
  cpu_p50_ms: number | null
  cpu_p99_ms: number | null
  wall_p50_ms: number
  wall_p99_ms: number
  queries_per_second: number
  /** How many times as long as ours a question takes, on the mean. */
  ratio: number
}
/** As much of it as is used: its own types are not written for modules. */
type FlexIndex = { add(id: number, text: string): void; search(query: string, options: object): unknown }
type Peer = { name: string; search(query: string): unknown; stop?(): Promise<void> }

/** Questions that are asked before it counts. */
const warmUp = 50
const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
const rounded = (value: number | undefined) => Math.round((value ?? 0) * 1_000) / 1_000
const at = (times: readonly number[], share: number) => rounded(percentiles(times)(share))

/** The same pages and the same questions, OR of all words, the best ten. */
export async function measurePeers(options: {
  pages: number
  queries: number
  say(text: string): void
}): Promise<Measured[]> {
  const results: Measured[] = []
  for (const open of [openOurs, openFlex, openMini, openPostgres]) {
    const from = performance.now()
    const peer = await open(options.pages)
    const buildSeconds = (performance.now() - from) / 1_000
    options.say(`  ${peer.name}: built in ${buildSeconds.toFixed(1)} s`)
    results.push(await asked(peer, options, buildSeconds, results[0]))
    options.say(`  ${JSON.stringify(results.at(-1))}`)
    await peer.stop?.()
  }
  return results
}

async function asked(
  peer: Peer,
  { pages, queries }: { pages: number; queries: number },
  buildSeconds: number,
  ours: Measured | undefined,
): Promise<Measured> {
  const own = peer.name !== 'postgresql full text'
  const [wall, cpu]: [number[], number[]] = [[], []]
  const questions = syntheticQueries(queries + warmUp)
  for (const [place, query] of questions.entries()) {
    const from = { wall: performance.now(), cpu: cpuMs() }
    await peer.search(query)
    if (place < warmUp) continue
    wall.push(performance.now() - from.wall)
    cpu.push(cpuMs() - from.cpu)
  }
  const total = (own ? cpu : wall).reduce((sum, time) => sum + time, 0)
  const perSecond = queries / (total / 1_000)
  return {
    engine: peer.name,
    pages,
    build_s: rounded(buildSeconds),
    cpu_p50_ms: own ? at(cpu, 0.5) : null,
    cpu_p99_ms: own ? at(cpu, 0.99) : null,
    wall_p50_ms: at(wall, 0.5),
    wall_p99_ms: at(wall, 0.99),
    queries_per_second: Math.round(perSecond),
    ratio: ours ? Math.round((10 * ours.queries_per_second) / perSecond) / 10 : 1,
  }
}

async function openOurs(pages: number): Promise<Peer> {
  const index = createMatchIndex()
  index.add([...syntheticPages(pages)])
  return { name: 'assay', search: (query) => index.search(readQuery(query), {}, 10) }
}

async function openFlex(pages: number): Promise<Peer> {
  const { Index } = (await import('flexsearch' as string)) as { Index: new (options: object) => FlexIndex }
  const index = new Index({ tokenize: 'strict' })
  for (const page of syntheticPages(pages)) index.add(page.pageId, `${page.title} ${page.text}`)
  return { name: 'flexsearch (no scores)', search: (query) => index.search(query, { limit: 10, suggest: true }) }
}

async function openMini(pages: number): Promise<Peer> {
  const index = new MiniSearch({ fields: ['title', 'text'], idField: 'pageId' })
  index.addAll([...syntheticPages(pages)])
  return { name: 'minisearch', search: (query) => index.search(query, { boost: { title: 2 } }).slice(0, 10) }
}

async function openPostgres(pages: number): Promise<Peer> {
  const db = await openTestDatabase()
  await db.owner.query('create table bench_page (id bigint, words tsvector)')
  let batch: { id: number; text: string }[] = []
  const flush = async () => {
    await db.owner.query(
      `insert into bench_page select id, to_tsvector('simple', text) from jsonb_to_recordset($1::jsonb) as r(id bigint, text text)`,
      [JSON.stringify(batch)],
    )
    batch = []
  }
  for (const page of syntheticPages(pages)) {
    batch.push({ id: page.pageId, text: `${page.title} ${page.text}` })
    if (batch.length === 5_000) await flush()
  }
  await flush()
  await db.owner.query('create index on bench_page using gin (words)')
  await db.owner.query('analyze bench_page')
  return {
    name: 'postgresql full text',
    search: (query) =>
      db.owner.query(
        `select id from bench_page, to_tsquery('simple', $1) q where words @@ q order by ts_rank_cd(words, q, 1) desc limit 10`,
        [query.split(' ').join(' | ')],
      ),
    stop: () => db.close(),
  }
}
