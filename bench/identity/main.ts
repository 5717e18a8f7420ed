// npx tsx bench/identity/main.ts: DIDs resolved a second from the cache, the time of a cold one, and proofs checked a
// second beside viem.
import { counted, runBench } from '../run-bench.ts'
import { measureProofs } from './measure-proofs.ts'
import { measureResolve } from './measure-resolve.ts'

const required = { per_second: 5_000, cold_p99_ms: 5 }

await runBench(async ({ openServer, note }) => {
  const { socketUrl } = await openServer()
  const proofs = await measureProofs()
  const { cold, warm } = await measureResolve(socketUrl)
  note('figures', { proofs, warm, cold })
  return [
    {
      figure: 'DIDs resolved from the cache',
      asked: `${required.per_second}/s`,
      measured: `${warm.per_second}/s`,
      reached: warm.per_second >= required.per_second && Object.keys(warm.statuses).join() === '200',
    },
    {
      figure: 'DIDs resolved cold, p99',
      asked: `${required.cold_p99_ms} ms`,
      measured: `${cold.p99} ms`,
      reached: cold.p99 < required.cold_p99_ms,
    },
    counted('request-bound proofs checked', `${proofs.ours_per_second}/s`, {
      peer: "viem's bare signature check",
      ratio: proofs.times_viem,
    }),
  ]
})
