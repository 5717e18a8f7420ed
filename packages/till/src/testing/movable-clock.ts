import { type Clock, systemClock } from '../kernel/clock.ts'

export type MovableClock = Clock & {
  /** Time jumps ahead for the till; waits are not cut short. */
  advance(ms: number): void
}

export function createMovableClock(): MovableClock {
  let aheadMs = 0
  return {
    nowMs: () => systemClock.nowMs() + aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    sleep: systemClock.sleep,
    advance: (ms) => {
      aheadMs += ms
    },
  }
}
