import { type Clock, systemClock } from '../../packages/till/src/kernel/clock.ts'

/** A clock that runs some times faster than the system's, from now on. */
export function createFastClock(times: number): Clock {
  const started = { nowMs: systemClock.nowMs(), monotonicMs: systemClock.monotonicMs() }
  const passedMs = () => (systemClock.monotonicMs() - started.monotonicMs) * times
  return {
    nowMs: () => Math.floor(started.nowMs + passedMs()),
    monotonicMs: () => started.monotonicMs + passedMs(),
    sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
  }
}
