// npx tsx bench/identity/main.ts: DIDs resolved a second from the cache, the time of a cold one, and proofs checked a
// second beside viem; exit code 1 when a figure is missed.
import { startTestServer } from '../../packages/till/src/store/testing.ts'
import { handOut } from '../hand-out.ts'
import { measureProofs } from './measure-proofs.ts'
import { measureResolve } from './measure-resolve.ts'

const required = { per_second: 5_000, cold_p99_ms: 5 }
const server = await startTestServer()
try {
  const proofs = await measureProofs()
  console.log('request-bound proofs, by CPU time', JSON.stringify(proofs))
  const { cold, warm } = await measureResolve(server.socketUrl)
  console.log(`resolved from the cache, asked for ${required.per_second} a second`, JSON.stringify(warm))
  console.log(`resolved cold, asked for a p99 below ${required.cold_p99_ms} ms`, JSON.stringify(cold))
  handOut(
    {
      figure: 'DIDs resolved from the cache',
      asked: `${required.per_second}/s`,
      measured: `${warm.per_second}/s`,
      reached: warm.per_second >= required.per_second,
    },
    {
      figure: 'DIDs resolved cold, p99',
      asked: `${required.cold_p99_ms} ms`,
      measured: `${cold.p99} ms`,
      reached: cold.p99 < required.cold_p99_ms,
    },
    {
      figure: 'request-bound proofs checked',
      asked: null,
      measured: `${proofs.ours_per_second}/s`,
      reached: null,
      peer: "viem's bare signature check",
      ratio: proofs.times_viem,
    },
  )
  const failures = [
    warm.per_second < required.per_second && `${warm.per_second} a second from the cache`,
    Object.keys(warm.statuses).join() !== '200' && `statuses ${JSON.stringify(warm.statuses)}`,
    cold.p99 >= required.cold_p99_ms && `${cold.p99} ms p99 cold`,
  ].filter((text) => text !== false)
  for (const failure of failures) console.log(`NOT REACHED: ${failure}`)
  process.exitCode = failures.length > 0 ? 1 : 0
} finally {
  await server.stop()
}
