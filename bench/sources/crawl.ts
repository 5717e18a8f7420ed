import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { runCrawler } from '../../packages/node/src/citations/crawl/run-crawler.ts'
import { registerSource } from '../../packages/node/src/citations/sources/register-source.ts'
import { openTestDatabase } from '../../packages/node/src/store/testing.ts'
import { benchDeps } from './deps.ts'

export type CrawlFigures = {
  sites: number
  pages: number
  seconds: number
  pagesPerSecond: number
  cpuSeconds: number
  hostPauseMs: number
  rssStartMb: number
  rssPeakMb: number
}

/** 200 sites of 20 pages, each page after 50 ms, one request at a time and a pause between two on every host. */
export async function measureCrawl(sites = 200): Promise<CrawlFigures> {
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
    const rssStart = process.memoryUsage.rss()
    let rssPeak = rssStart
    const watch = setInterval(() => {
      rssPeak = Math.max(rssPeak, process.memoryUsage.rss())
    }, 50)
    const cpuBefore = process.cpuUsage()
    const startedAt = performance.now()
    const run = await runCrawler(deps, { forMs: 120_000 })
    const seconds = (performance.now() - startedAt) / 1000
    const cpu = process.cpuUsage(cpuBefore)
    clearInterval(watch)
    const mb = (bytes: number) => Math.round(bytes / 1024 / 1024)
    return {
      sites,
      pages: run.pages,
      seconds,
      pagesPerSecond: run.pages / seconds,
      cpuSeconds: (cpu.user + cpu.system) / 1e6,
      hostPauseMs,
      rssStartMb: mb(rssStart),
      rssPeakMb: mb(rssPeak),
    }
  } finally {
    await db.close()
    served.stop()
  }
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
