// npx tsx bench/console/main.ts [--quick] [--url <origin>]: how much the first view of the console takes, and how long,
// alone and under load. With --url every page of a running node, such as one with its demo data, under load instead.
import type { Browser } from 'playwright-core'
import { openBrowser } from '../../test/harness/browser.ts'
import { loadedBytes } from '../../test/harness/page-checks.ts'
import { startChild } from '../process/child.ts'
import type { FigureRow } from '../report-figures.ts'
import { counted, runBench } from '../run-bench.ts'

const visits = process.argv.includes('--quick') ? 5 : 20
const bytesMax = 150_000

type View = { ms: number; bytes: number }

/** From asking for the page to its heading, with nothing cached. */
async function firstView(browser: Browser, url: string): Promise<View> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const startedMs = performance.now()
  await page.goto(url, { waitUntil: 'commit' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  const ms = performance.now() - startedMs
  await page.waitForLoadState('networkidle')
  const bytes = await loadedBytes(page)
  await context.close()
  return { ms, bytes }
}

async function median(browser: Browser, url: string): Promise<View> {
  const views: View[] = []
  for (let visit = 0; visit < visits; visit += 1) views.push(await firstView(browser, url))
  views.sort((a, b) => a.ms - b.ms)
  return views[Math.floor(views.length / 2)] as View
}

/** Callers that ask for prices as fast as they are answered, until they are stopped. */
function startLoad(url: string, callers = 16): { stop(): Promise<number> } {
  let going = true
  let asked = 0
  const caller = async () => {
    while (going) {
      asked += 1
      const response = await fetch(`${url}/v1/sandbox/echo?message=n${asked}`)
      await response.arrayBuffer()
    }
  }
  const all = Array.from({ length: callers }, caller)
  return {
    stop: async () => {
      going = false
      await Promise.all(all)
      return asked
    },
  }
}

const pages = [
  ...['', 'token', 'matrix', 'search', 'sources', 'sources/token-control.test', 'sources/register'],
  ...['explorer', 'stream', 'options', 'wallet', 'verify', 'operator'],
]
const pageMsMax = 1_000

/** From asking for a page, with nothing cached, to the end of everything that it waits for. */
async function pageMs(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const startedMs = performance.now()
  await page.goto(url, { waitUntil: 'commit' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  const waiting = page.locator('.waiting:not(li)')
  while ((await waiting.count()) > 0) await waiting.first().waitFor({ state: 'detached' })
  const ms = performance.now() - startedMs
  await context.close()
  return ms
}

async function measurePages(origin: string): Promise<FigureRow[]> {
  const browser = await openBrowser()
  const load = startLoad(origin, 4)
  const slowest: { page: string; ms: number }[] = []
  try {
    for (const page of pages) {
      const visited: number[] = []
      for (let visit = 0; visit < 3; visit += 1) visited.push(await pageMs(browser, `${origin}/#/${page}`))
      slowest.push({ page: page || 'start', ms: visited.sort((a, b) => a - b)[1] as number })
    }
  } finally {
    await load.stop()
    await browser.close()
  }
  slowest.sort((a, b) => b.ms - a.ms)
  const [first] = slowest
  return [
    {
      figure: `slowest of ${pages.length} pages under load, to the end of what it reads`,
      asked: `${pageMsMax} ms`,
      measured: slowest.map(({ page, ms }) => `${page} ${ms.toFixed(0)} ms`).join(', '),
      reached: first !== undefined && first.ms <= pageMsMax,
    },
  ]
}

await runBench(async ({ home }) => {
  const running = process.argv.indexOf('--url')
  if (running > 0) return measurePages(process.argv[running + 1] as string)
  const side = await startChild('console/side.ts', { ASSAY_HOME: home })
  const browser = await openBrowser()
  try {
    const url = await side.ask<string>('url')
    await firstView(browser, url)
    const alone = await median(browser, url)
    const load = startLoad(url)
    const startedMs = performance.now()
    const loaded = await median(browser, url)
    const perSecond = (await load.stop()) / ((performance.now() - startedMs) / 1000)
    return [
      {
        figure: 'bytes of the first view, compressed',
        asked: `${bytesMax / 1000} kB`,
        measured: `${(alone.bytes / 1000).toFixed(1)} kB`,
        reached: alone.bytes < bytesMax,
      },
      counted(
        'first view, alone and under load',
        `${alone.ms.toFixed(0)} and ${loaded.ms.toFixed(0)} ms beside ${perSecond.toFixed(0)} prices asked a second`,
      ),
    ]
  } finally {
    await browser.close()
    await side.stop()
  }
})
