import { measureCrawl } from './crawl.ts'
import { measureFold } from './fold.ts'

// npx tsx bench/sources/main.ts [crawl|fold]
const only = process.argv[2]
if (only === undefined || only === 'crawl') {
  const figures = await measureCrawl()
  console.log(
    `crawl  ${figures.sites} sites, ${figures.pages} pages in ${figures.seconds.toFixed(1)} s: ${figures.pagesPerSecond.toFixed(0)} pages/s (wanted 300), ${((1_000 * figures.cpuSeconds) / figures.pages).toFixed(2)} ms CPU a page, ${figures.hostPauseMs} ms pause per host, rss ${figures.rssStartMb} -> ${figures.rssPeakMb} MB`,
  )
}
if (only === undefined || only === 'fold') {
  const figures = await measureFold()
  console.log(
    `fold   ${figures.batch} new citations over ${figures.sources} sources, ${figures.citations} citations, ${figures.agents} agents: median ${figures.secondsMedian.toFixed(2)} s, worst ${figures.secondsWorst.toFixed(2)} s (wanted < 2), ${figures.touchedSources} sources touched, ${figures.rescored} scores changed at most`,
  )
}
process.exit(0)
