// npx tsx bench/tokens/main.ts: the reader's round trips beside a naive one, and checks a second from the per-block cache.
import { runBench } from '../run-bench.ts'
import { measureTrips } from './check-trips.ts'
import { measureLongHistory } from './long-history.ts'
import { measureSustained } from './sustained.ts'

await runBench(async ({ note }) => {
  const trips = await measureTrips()
  note('one check over the local RPC', trips)
  const sustained = await measureSustained()
  note('checks from the per-block cache', sustained)
  const long = await measureLongHistory()
  note('a token with 5 million blocks of history, endpoints capped at 10,000 blocks', long)
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
    {
      figure: 'warm check of a token with 5 million blocks of history, endpoints capped at 10,000',
      asked: '3 round trips',
      measured: `${long.warm.round_trips} (${long.warm.ms} ms at ${long.latency_ms} ms each), complete ${long.warm.complete}`,
      reached: long.warm.round_trips <= 3 && long.warm.complete,
    },
    {
      figure: 'cold check of it, before and while the index reads',
      asked: 'no 503',
      measured: `${long.cold.failed} of ${long.cold.checks} failed; indexed after ${long.index.runs} runs of ${long.index.requests_per_run} requests`,
      reached: long.cold.failed === 0 && long.index.complete,
    },
  ]
})
