import type { Shop } from '../shop.ts'
import { runCrawler } from './crawl/run-crawler.ts'
import { crawlDueSql } from './crawl/store.ts'
import type { SourceDeps } from './deps.ts'
import { recheckSources } from './register/settle-contests.ts'
import { followBonds, reaggregateAll } from './score/aggregate-citations.ts'
import { scoreDueSql, scoreSources } from './score/score-sources.ts'
import { crawlWantedChannel, scoreWantedChannel, type WorkWatch, watchForWork } from './wait-for-work.ts'

type Jobs = NonNullable<Shop['jobs']>

const crawlWorkers = 2
const windowMs = 60_000
/** While there is something to do that cannot be done yet, as where another works on a host of the same domain. */
const retryMs = 5_000

/** Crawling, scoring and checking proofs again. What becomes due with time is found by the expressions, the rest announces itself. */
export async function openSourceJobs(
  deps: SourceDeps,
  stopping: AbortSignal,
): Promise<{ jobs: Jobs; stop(): Promise<void> }> {
  const names = crawlerNames(deps)
  const watches = await Promise.all(names.map(() => watchForWork(deps, crawlWantedChannel, stopping)))
  const crawlers = names.map((name, place) => crawler(deps, name, watches[place] as WorkWatch, stopping))
  return {
    jobs: [
      ...crawlers,
      {
        name: 'citations.score',
        intervalMs: retryMs,
        due: scoreDueSql,
        channel: scoreWantedChannel,
        work: async () => {
          while (!stopping.aborted && (await scoreSources(deps)) > 0);
        },
      },
      { name: 'citations.recheck', intervalMs: 60_000, work: () => recheckSources(deps) },
      { name: 'citations.reaggregate', intervalMs: 86_400_000, work: () => reaggregateAll(deps) },
      ...(deps.bonds ? [{ name: 'citations.bonds', intervalMs: 60_000, work: () => followBonds(deps) }] : []),
    ],
    stop: async () => {
      for (const watch of watches) await watch.stop()
    },
  }
}

function crawler(deps: SourceDeps, name: string, watch: WorkWatch, stopping: AbortSignal): Jobs[number] {
  return {
    name,
    intervalMs: retryMs,
    due: crawlDueSql,
    channel: crawlWantedChannel,
    work: async () => {
      while (!stopping.aborted && (await runCrawler(deps, { forMs: windowMs, signal: stopping, watch })).hosts > 0);
    },
  }
}

// The queue itself keeps workers apart, so every process may crawl: each draws names of its own out of a thousand.
function crawlerNames({ rng }: SourceDeps): string[] {
  const names = new Set<string>()
  while (names.size < crawlWorkers) names.add(`citations.crawl.${Buffer.from(rng.bytes(2)).readUInt16BE() % 1_000}`)
  return [...names]
}
