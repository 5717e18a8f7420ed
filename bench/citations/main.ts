// npx tsx bench/citations/main.ts [--leaves 1000000] [--attest 3000]: the figures of attestations and their log.
import { runBench } from '../run-bench.ts'
import { measureAttest } from './measure-attest.ts'
import { measureLog } from './measure-log.ts'
import { measurePages } from './measure-pages.ts'

await runBench(async ({ home, openServer, option, note }) => {
  await openServer()
  const log = await measureLog(option('leaves', 1_000_000))
  const attest = await measureAttest(home, option('attest', 3_000))
  const pages = await measurePages()
  note('figures', { log, attest, pages })
  return [
    {
      figure: `proof in a log of ${log.leaves} leaves, p99`,
      asked: `${log.required_proof_p99_ms} ms`,
      measured: `${log.proof_p99_ms} ms`,
      reached: log.proof_p99_ms < log.required_proof_p99_ms,
    },
    {
      figure: 'attestations, pages cached, settlement stubbed, 256 connections',
      asked: `${attest.required_per_second}/s`,
      measured: `${attest.per_second}/s; CPU each: node ${attest.node_cpu_micros}, database ${attest.database_cpu_micros} µs`,
      reached: attest.per_second >= attest.required_per_second && attest.statuses['200'] === attest.count,
    },
    {
      figure: `longest stall of the event loop, ${pages.count} pages of ${pages.bytes / 1e6} MB at once`,
      asked: `1/${pages.required_ratio} of parsing without threads`,
      measured: `${pages.threads_stall_ms} ms; without threads ${pages.inline_stall_ms} ms`,
      reached: pages.inline_stall_ms >= pages.required_ratio * pages.threads_stall_ms,
    },
  ]
})
