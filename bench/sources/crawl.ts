import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { runCrawler } from '../../packages/node/src/shops/sources/crawl/run-crawler.ts'
import type { SourceDeps } from '../../packages/node/src/shops/sources/deps.ts'
import { registerSource } from '../../packages/node/src/shops/sources/register/register-source.ts'
import { openTestDatabase } from '../../packages/till/src/store/testing.ts'
import { benchDeps } from './deps.ts'

export type CrawlFigures = {
  sites: number
  hostPauseMs: number
  rssStartMb: number
  rounds: {
    pages: number
    seconds: number
    pagesPerSecond: number
    cpuSeconds: number
    rssPeakMb: number
    /** What is still in use once the round is over and garbage is gone. */
    heapMb: number
  }[]
}

const roundsDefault = 3

/**
 * 200 sites of 20 pages, each page after 50 ms, one request at a time and a pause between two on every host. The same
 * sites are crawled again and again in one process: memory that grew with every page would show from round to round.
 */
export async function measureCrawl(sites = 200, rounds = roundsDefault): Promise<CrawlFigures> {
  const served = await openSites()
  const db = await openTestDatabase()
  try {
    const hosts = new Map(
      Array.from({ length: sites }, (_, n) => [`site${n}.test`, { address: '127.0.0.1', port: served.port }]),
    )
    const deps = benchDeps(db.database, hosts)
    const hostPauseMs = 300
    deps.settings = {
      ...deps.settings,
      crawl: { ...deps.settings.crawl, hostDelayMs: hostPauseMs, hostsAtOnce: 250, pagesMax: 20 },
    }
    const names = [...hosts.keys()]
    for (let start = 0; start < names.length; start += 10)
      await Promise.all(
        names
          .slice(start, start + 10)
          .map((domain) => registerSource(deps, { domain, wallet: '0x1111111111111111111111111111111111111111' })),
      )
    const figures: CrawlFigures = { sites, hostPauseMs, rssStartMb: mb(process.memoryUsage.rss()), rounds: [] }
    for (let round = 0; round < rounds; round += 1) {
      await db.database.query(`update crawl_host set due_at = now()`)
      await db.database.query(`update crawl_page set due_at = now()`)
      figures.rounds.push(await measureRound(deps))
    }
    return figures
  } finally {
    await db.close()
    served.stop()
  }
}

const mb = (bytes: number) => Math.round(bytes / 1024 / 1024)

async function measureRound(deps: SourceDeps): Promise<CrawlFigures['rounds'][number]> {
  let rssPeak = process.memoryUsage.rss()
  const watch = setInterval(() => {
    rssPeak = Math.max(rssPeak, process.memoryUsage.rss())
  }, 50)
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  const run = await runCrawler(deps, { forMs: 120_000 })
  const seconds = (performance.now() - startedAt) / 1000
  const cpu = process.cpuUsage(cpuBefore)
  clearInterval(watch)
  collectGarbage()
  return {
    pages: run.pages,
    seconds,
    pagesPerSecond: run.pages / seconds,
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
    rssPeakMb: mb(rssPeak),
    heapMb: mb(process.memoryUsage().heapUsed),
  }
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}

async function openSites(): Promise<{ port: number; stop(): void }> {
  const child = fork(fileURLToPath(new URL('./site-process.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const port = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.stdout?.once('data', (data) => resolve(Number(String(data).trim())))
  })
  return { port, stop: () => child.disconnect() }
}
