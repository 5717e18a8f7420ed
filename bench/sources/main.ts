import { handOut } from '../hand-out.ts'
import { measureCrawl } from './crawl.ts'
import { measureFold } from './fold.ts'
import { measureParsers } from './parse.ts'

// npx tsx bench/sources/main.ts [crawl|fold|parse]
const only = process.argv[2]
if (only === undefined || only === 'crawl') {
  const { sites, hostPauseMs, rssStartMb, rounds } = await measureCrawl()
  for (const [index, round] of rounds.entries())
    console.log(
      `crawl  round ${index + 1}: ${sites} sites, ${round.pages} pages in ${round.seconds.toFixed(1)} s: ${round.pagesPerSecond.toFixed(0)} pages/s (wanted 300), ${((1_000 * round.cpuSeconds) / round.pages).toFixed(2)} ms CPU a page, ${hostPauseMs} ms pause per host, rss peak ${round.rssPeakMb} MB, heap afterwards ${round.heapMb} MB`,
    )
  const [first, ...later] = rounds
  const last = later.at(-1)
  const slowest = Math.min(...rounds.map(({ pagesPerSecond }) => pagesPerSecond))
  handOut({
    figure: `${sites} sites crawled, ${hostPauseMs} ms pause per host`,
    asked: '300 pages/s',
    measured: `${rounds.map(({ pagesPerSecond }) => pagesPerSecond.toFixed(0)).join(', ')} pages/s`,
    reached: slowest >= 300,
  })
  if (first && last)
    console.log(
      `memory rss ${rssStartMb} MB at the start; from round 2 on the peak moved by ${last.rssPeakMb - (later[0]?.rssPeakMb ?? 0)} MB and the heap by ${last.heapMb - first.heapMb} MB (wanted: flat)`,
    )
}
if (only === undefined || only === 'fold') {
  const figures = await measureFold()
  handOut({
    figure: `${figures.batch} citations into ${figures.sources} sources with ${figures.citations}`,
    asked: '2 s',
    measured: `${figures.secondsMedian.toFixed(2)} s, worst ${figures.secondsWorst.toFixed(2)} s`,
    reached: figures.secondsMedian < 2,
  })
  console.log(
    `fold   ${figures.batch} new citations over ${figures.sources} sources, ${figures.citations} citations, ${figures.agents} agents: median ${figures.secondsMedian.toFixed(2)} s, worst ${figures.secondsWorst.toFixed(2)} s (wanted < 2), ${figures.touchedSources} sources touched, ${figures.rescored} scores changed at most`,
  )
}
if (only === undefined || only === 'parse') {
  const { parser, piece, ms, parsers, kilobytes } = measureParsers()
  handOut({
    figure: `${kilobytes} kB of worst input, slowest of ${parsers} parsers`,
    asked: '10 ms',
    measured: `${ms.toFixed(1)} ms, ${parser}`,
    reached: ms < 10,
  })
  console.log(
    `parse  slowest of ${parsers} parsers on ${kilobytes} kB: ${parser} on ${piece}, ${ms.toFixed(1)} ms (wanted < 10)`,
  )
}
process.exit(0)
