import { setMaxListeners } from 'node:events'
import { withTimeLimit } from '../../../outbound/index.ts'
import type { SourceDeps } from '../deps.ts'
import type { WorkWatch } from '../wait-for-work.ts'
import { crawlHost } from './crawl-host.ts'
import { takeHosts } from './store.ts'

export type CrawlRun = { hosts: number; pages: number }

export type CrawlLimit = { forMs: number; signal?: AbortSignal; watch?: WorkWatch }

// Hosts that become due while others are slow do not wait for them; where they announce themselves, looking is rare.
const pollEveryMs = 250
const pollAnywayMs = 2_000

/** Takes due hosts and works on many of them at once, one request at a time each, until nothing is due or time is up. */
export async function runCrawler(deps: SourceDeps, limit: CrawlLimit): Promise<CrawlRun> {
  const { clock, settings } = deps
  const signal = limit.signal ?? new AbortController().signal
  // Every host at work listens to it.
  setMaxListeners(settings.crawl.hostsAtOnce * 4, signal)
  const stopAtMs = clock.monotonicMs() + limit.forMs
  const running = new Set<Promise<void>>()
  const total: CrawlRun = { hosts: 0, pages: 0 }
  while (!signal.aborted && clock.monotonicMs() < stopAtMs) {
    const free = settings.crawl.hostsAtOnce - running.size
    // A host that ends while this asks may free the turn of another: only a read with nothing at work is the last one.
    const nothingAtWork = running.size === 0
    const leases = free > 0 ? await takeHosts(deps.database, clock, free, settings.crawl.leaseMs) : []
    for (const lease of leases) {
      const turnEndsMs = Math.min(stopAtMs, clock.monotonicMs() + settings.crawl.turnMs)
      const work: Promise<void> = crawlHost(deps, lease, { signal, stopAtMs: turnEndsMs })
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
    if (nothingAtWork && leases.length === 0) break
    if (running.size > 0) await (limit.watch?.wait(pollAnywayMs, running) ?? anyOf(deps, running, signal))
  }
  await Promise.all(running)
  return total
}

/** Until one of them has ended, or it is time to look again. */
async function anyOf(deps: SourceDeps, running: ReadonlySet<Promise<void>>, signal: AbortSignal): Promise<void> {
  await withTimeLimit(deps.clock, pollEveryMs, signal, (within) => {
    const timeUp = new Promise<void>((resolve) => within.addEventListener('abort', () => resolve(), { once: true }))
    return Promise.race([...running, timeUp])
  })
}
