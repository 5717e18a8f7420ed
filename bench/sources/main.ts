// npx tsx bench/sources/main.ts [crawl|aggregate|parse]
import type { FigureRow } from '../report-figures.ts'
import { counted, runBench } from '../run-bench.ts'
import { measureAggregation } from './aggregate.ts'
import { measureCrawl } from './crawl.ts'
import { measureParsers } from './parse.ts'

async function crawl(): Promise<FigureRow[]> {
  const { sites, hostPauseMs, rssStartMb, rounds } = await measureCrawl()
  const [first, ...later] = rounds
  const last = later.at(-1)
  const cpuMs = rounds.map(({ cpuSeconds, pages }) => ((1_000 * cpuSeconds) / pages).toFixed(2))
  return [
    {
      figure: `${sites} sites crawled, ${hostPauseMs} ms pause per host`,
      asked: '300 pages/s',
      measured: `${rounds.map(({ pagesPerSecond }) => pagesPerSecond.toFixed(0)).join(', ')} pages/s`,
      reached: Math.min(...rounds.map(({ pagesPerSecond }) => pagesPerSecond)) >= 300,
    },
    counted(
      'the same, memory: flat is wanted',
      `rss ${rssStartMb} MB at the start, from round 2 on the peak moved by ${(last?.rssPeakMb ?? 0) - (later[0]?.rssPeakMb ?? 0)} MB and the heap by ${(last?.heapMb ?? 0) - (first?.heapMb ?? 0)} MB; ${cpuMs.join(', ')} ms CPU a page`,
    ),
  ]
}

async function aggregate(): Promise<FigureRow[]> {
  const figures = await measureAggregation()
  return [
    {
      figure: `${figures.batch} citations into ${figures.sources} sources with ${figures.citations}`,
      asked: '2 s',
      measured: `${figures.secondsMedian.toFixed(2)} s, worst ${figures.secondsWorst.toFixed(2)} s`,
      reached: figures.secondsMedian < 2,
    },
  ]
}

async function parse(): Promise<FigureRow[]> {
  const { parser, piece, ms, parsers, kilobytes } = measureParsers()
  return [
    {
      figure: `${kilobytes} kB of worst input, slowest of ${parsers} parsers`,
      asked: '10 ms',
      measured: `${ms.toFixed(1)} ms, ${parser} on ${piece}`,
      reached: ms < 10,
    },
  ]
}

const parts = { crawl, aggregate, parse }
await runBench(async () => {
  const only = process.argv[2] as keyof typeof parts | undefined
  const rows: FigureRow[] = []
  for (const name of ['crawl', 'aggregate', 'parse'] as const)
    if (only === undefined || only === name) rows.push(...(await parts[name]()))
  return rows
})
process.exit()
