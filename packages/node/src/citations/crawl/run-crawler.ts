import { setMaxListeners } from 'node:events'
import type { SourceDeps } from '../deps.ts'
import { crawlHost } from './crawl-host.ts'
import { takeHosts } from './store.ts'

export type CrawlRun = { hosts: number; pages: number }

/** Takes due hosts and works on many of them at once, one request at a time each, until nothing is due or time is up. */
export async function runCrawler(deps: SourceDeps, limit: { forMs: number; signal?: AbortSignal }): Promise<CrawlRun> {
  const { clock, settings } = deps
  const signal = limit.signal ?? new AbortController().signal
  // Every host at work listens to it.
  setMaxListeners(settings.crawl.hostsAtOnce * 4, signal)
  const window = { signal, stopAtMs: clock.monotonicMs() + limit.forMs }
  const running = new Set<Promise<void>>()
  const total: CrawlRun = { hosts: 0, pages: 0 }
  while (!signal.aborted && clock.monotonicMs() < window.stopAtMs) {
    const free = settings.crawl.hostsAtOnce - running.size
    const leases = free > 0 ? await takeHosts(deps.database, clock, free, settings.crawl.leaseMs) : []
    for (const lease of leases) {
      const work: Promise<void> = crawlHost(deps, lease, window)
        .then(
          (pages) => {
            total.pages += pages
            total.hosts += 1
            deps.metrics.count('crawl_pages', {}, pages)
          },
          (error: unknown) =>
            deps.log.error({ domain: lease.source.domain, error: String(error) }, 'a crawl failed; its lease runs out'),
        )
        .finally(() => running.delete(work))
      running.add(work)
    }
    if (running.size === 0) break
    await Promise.race(running)
  }
  await Promise.all(running)
  return total
}
