// npx tsx bench/match/main.ts [--pages 1000000] [--peers 100000]: the match index at a million pages, and its peers at fewer.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureIndex } from './measure-index.ts'
import { measurePeers } from './measure-peers.ts'

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '1000000' },
    peers: { type: 'string', default: '100000' },
    json: { type: 'boolean', default: false },
  },
})
const folder = await mkdtemp(join(tmpdir(), 'assay-bench-match-'))
const say = (text: string) => process.stderr.write(`${text}\n`)
try {
  const large = await measureIndex({ pages: Number(values.pages), queries: 4_000, folder, say })
  say(`  ${JSON.stringify(large)}`)
  const peers = Number(values.peers) > 0 ? await measurePeers({ pages: Number(values.peers), queries: 300, say }) : []
  const failures = [
    large.cpu_p50_ms > 1 && `CPU p50 ${large.cpu_p50_ms} ms, at most 1 is wanted`,
    large.cpu_p99_ms > 10 && `CPU p99 ${large.cpu_p99_ms} ms, at most 10 is wanted`,
    large.queries_per_second < 1_000 && `${large.queries_per_second} queries a second, 1,000 are wanted`,
    large.rss_mb > 1_024 && `${large.rss_mb} MB, at most 1,024 are wanted`,
  ].filter((text) => text !== false)
  if (values.json) process.stdout.write(`${JSON.stringify({ large, peers, failures }, null, 2)}\n`)
  else {
    console.table([large])
    console.table(peers)
    for (const failure of failures) console.log(`NOT REACHED: ${failure}`)
  }
  process.exitCode = failures.length > 0 ? 1 : 0
} finally {
  await rm(folder, { recursive: true, force: true })
}
