import type { Shop } from '../shop.ts'
import { runCrawler } from './crawl/run-crawler.ts'
import type { SourceDeps } from './deps.ts'
import { recheckSources } from './register/settle-contests.ts'
import { followBonds, reaggregateAll } from './score/aggregate-citations.ts'
import { scoreSources } from './score/score-sources.ts'
import { crawlWantedChannel, scoreWantedChannel, type WorkWatch, watchForWork } from './wait-for-work.ts'

type Jobs = NonNullable<Shop['jobs']>

const crawlWorkers = 2
const windowMs = 60_000
/** Work announces itself; what only becomes due with time, or whose message got lost, is found this late. */
const idleMs = 5_000
/** Between giving back the lease of a job and asking for it again. */
const pauseMs = 250

/** Crawling, scoring and checking proofs again. On an idle node the jobs wait until a request brings work for them. */
export async function openSourceJobs(
  deps: SourceDeps,
  stopping: AbortSignal,
): Promise<{ jobs: Jobs; stop(): Promise<void> }> {
  const names = crawlerNames(deps)
  const watches = await Promise.all(names.map(() => watchForWork(deps, crawlWantedChannel, stopping)))
  const scoring = await watchForWork(deps, scoreWantedChannel, stopping)
  const crawlers = names.map((name, place) => crawler(deps, name, watches[place] as WorkWatch, stopping))
  return {
    jobs: [
      ...crawlers,
      {
        name: 'citations.score',
        intervalMs: pauseMs,
        work: async () => {
          while (!stopping.aborted && (await scoreSources(deps)) > 0);
          await scoring.wait(idleMs)
        },
      },
      { name: 'citations.recheck', intervalMs: 60_000, work: () => recheckSources(deps) },
      { name: 'citations.reaggregate', intervalMs: 86_400_000, work: () => reaggregateAll(deps) },
      ...(deps.bonds ? [{ name: 'citations.bonds', intervalMs: 60_000, work: () => followBonds(deps) }] : []),
    ],
    stop: async () => {
      for (const watch of [...watches, scoring]) await watch.stop()
    },
  }
}

function crawler(deps: SourceDeps, name: string, watch: WorkWatch, stopping: AbortSignal): Jobs[number] {
  return {
    name,
    intervalMs: pauseMs,
    work: async () => {
      await runCrawler(deps, { forMs: windowMs, signal: stopping, watch })
      await watch.wait(idleMs)
    },
  }
}

// The queue itself keeps workers apart, so every process may crawl: each draws names of its own out of a thousand.
function crawlerNames({ rng }: SourceDeps): string[] {
  const names = new Set<string>()
  while (names.size < crawlWorkers) names.add(`citations.crawl.${Buffer.from(rng.bytes(2)).readUInt16BE() % 1_000}`)
  return [...names]
}
