// npx tsx bench/match/main.ts [--pages 1000000] [--peers 100000]: the match index at a million pages, and its peers at fewer.
import { counted, runBench } from '../run-bench.ts'
import { measureIndex } from './measure-index.ts'
import { measurePeers } from './measure-peers.ts'

const say = (text: string) => process.stderr.write(`${text}\n`)

await runBench(async ({ home, option, note }) => {
  const large = await measureIndex({ pages: option('pages', 1_000_000), queries: 4_000, folder: home, say })
  const pages = option('peers', 100_000)
  const peers = pages > 0 ? await measurePeers({ pages, queries: 300, say }) : []
  note('figures', { large, peers })
  return [
    {
      figure: `search of ${large.pages} pages, 200 candidates rescored, CPU p50 / p99`,
      asked: 'p99 20 ms',
      measured: `${large.cpu_p50_ms} / ${large.cpu_p99_ms} ms`,
      reached: large.cpu_p99_ms <= 20,
    },
    {
      figure: 'searches a second and thread; memory',
      asked: '300/s; 900 MB',
      measured: `${large.queries_per_second}/s; ${large.rss_mb} MB`,
      reached: large.queries_per_second >= 300 && large.rss_mb <= 900,
    },
    ...peers
      .slice(1)
      .map((peer) =>
        counted(
          `searches of ${peer.pages} pages`,
          `${peers[0]?.queries_per_second}/s beside ${peer.queries_per_second}/s`,
          { peer: peer.engine, ratio: peer.ratio },
        ),
      ),
  ]
})
