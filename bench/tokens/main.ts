// npx tsx bench/tokens/main.ts: the reader's round trips beside a naive one, and checks a second from the per-block cache.
import { handOut } from '../hand-out.ts'
import { measureTrips } from './check-trips.ts'
import { measureSustained } from './sustained.ts'

const trips = await measureTrips()
console.log('one check over the local RPC', JSON.stringify(trips, null, 2))
const sustained = await measureSustained()
console.log('checks from the per-block cache', JSON.stringify(sustained, null, 2))

handOut(
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
)

const failures = [
  trips.round_trips.views > 3 && `views took ${trips.round_trips.views} round trips, at most 3 are allowed`,
  trips.fewer_round_trips < 8 &&
    `only ${trips.fewer_round_trips} times fewer round trips than the naive reader, 8 are wanted`,
  (sustained.answered_per_second < 990 || sustained.failed > 0) &&
    `${sustained.answered_per_second} checks a second with ${sustained.failed} failures, 1,000 without any are wanted`,
].filter((text) => text !== false)
for (const failure of failures) console.log(`NOT REACHED: ${failure}`)
process.exitCode = failures.length > 0 ? 1 : 0
