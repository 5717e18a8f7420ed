// npx tsx bench/tokens/main.ts: the reader's round trips beside a naive one, and checks a second from the per-block cache.
import { runBench } from '../run-bench.ts'
import { measureTrips } from './check-trips.ts'
import { measureSustained } from './sustained.ts'

await runBench(async ({ note }) => {
  const trips = await measureTrips()
  note('one check over the local RPC', trips)
  const sustained = await measureSustained()
  note('checks from the per-block cache', sustained)
  return [
    {
      figure: 'round trips of a check with 200 role events, views',
      asked: '3',
      measured: `${trips.round_trips.views} (${trips.round_trips.total} in all)`,
      reached: trips.round_trips.views <= 3,
    },
    {
      figure: 'round trips in all',
      asked: '8 times fewer',
      measured: `${trips.round_trips.total}, a naive reader ${trips.naive.round_trips}`,
      reached: trips.fewer_round_trips >= 8,
      peer: 'naive reader',
      ratio: trips.fewer_round_trips,
    },
    {
      figure: 'checks of 50 tokens from the per-block cache, 1,000/s offered',
      asked: '1,000/s',
      measured: `${sustained.answered_per_second}/s, ${sustained.failed} failed, ${JSON.stringify(sustained.ms)} ms`,
      reached: sustained.answered_per_second >= 990 && sustained.failed === 0,
    },
  ]
})
