import { createCollector, defaultWeights } from '../../packages/node/src/shops/match/build-segment.ts'
import { createMatchIndex } from '../../packages/node/src/shops/match/match-index.ts'
import { readQuery } from '../../packages/node/src/shops/match/read-query.ts'
import { openSegmentFolder } from '../../packages/node/src/shops/match/segment-folder.ts'
import { percentiles } from '../percentiles.ts'
import { syntheticPages, syntheticQueries } from './synthetic-pages.ts'

const segmentDocs = 250_000
/** As many as the shop asks for, and all of them rescored. */
const candidates = 200

const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
const at = (times: readonly number[], share: number) => Math.round(percentiles(times)(share) * 1_000) / 1_000

/** Build, write, load, learn and search; CPU time, since the machine may be doing other things. */
export async function measureIndex(options: {
  pages: number
  queries: number
  folder: string
  say(text: string): void
}) {
  const folder = openSegmentFolder(options.folder)
  const buildFrom = cpuMs()
  let built: ReturnType<typeof createMatchIndex> | undefined = createMatchIndex()
  let collector = createCollector()
  for (const page of syntheticPages(options.pages)) {
    collector.add(page)
    if (collector.size() === segmentDocs || page.pageId === options.pages) {
      built.adopt(collector.finish(defaultWeights))
      collector = createCollector()
      options.say(`  ${page.pageId} pages indexed`)
    }
  }
  const buildSeconds = (cpuMs() - buildFrom) / 1_000
  folder.keep(built.segments())
  built = undefined
  const loadFrom = performance.now()
  const index = createMatchIndex()
  for (const segment of openSegmentFolder(options.folder).load()) index.adopt(segment)
  const loadMs = performance.now() - loadFrom
  const trainFrom = cpuMs()
  for (const _ of index.train());
  const trainSeconds = (cpuMs() - trainFrom) / 1_000
  const queries = syntheticQueries(options.queries).map(readQuery)
  for (const query of queries.slice(0, 200)) index.search(query, {}, candidates)
  const times: number[] = []
  const startedCpu = cpuMs()
  for (const query of queries) {
    const from = cpuMs()
    index.search(query, {}, candidates)
    times.push(cpuMs() - from)
  }
  const total = cpuMs() - startedCpu
  return {
    pages: index.docCount(),
    build_cpu_s: Math.round(buildSeconds * 10) / 10,
    reload_ms: Math.round(loadMs),
    train_cpu_s: Math.round(trainSeconds * 10) / 10,
    cpu_p50_ms: at(times, 0.5),
    cpu_p99_ms: at(times, 0.99),
    queries_per_second: Math.round(options.queries / (total / 1_000)),
    rss_mb: Math.round(process.memoryUsage().rss / 1_048_576),
  }
}
