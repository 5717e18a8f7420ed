import type { Clock } from '../kernel/clock.ts'

/** How many calls an endpoint may get: a minute's worth at once, then as they come back. */
export type CallBudget = {
  /** False, and nothing is taken: there is not enough left. `always` takes what is not there, and later calls wait longer. */
  take(calls: number, always: boolean): boolean
  /** Until there is room for so many. */
  waitMs(calls: number): number
}

export function createCallBudget(clock: Clock, callsPerMinute: number | undefined): CallBudget {
  if (callsPerMinute === undefined) return { take: () => true, waitMs: () => 0 }
  const perMs = callsPerMinute / 60_000
  let left = callsPerMinute
  let atMs = clock.monotonicMs()
  const refill = () => {
    const nowMs = clock.monotonicMs()
    left = Math.min(callsPerMinute, left + (nowMs - atMs) * perMs)
    atMs = nowMs
  }
  return {
    take: (calls, always) => {
      refill()
      // A batch larger than a minute's worth would otherwise never go out.
      if (!always && left < Math.min(calls, callsPerMinute)) return false
      left -= calls
      return true
    },
    waitMs: (calls) => {
      refill()
      return Math.max(0, Math.ceil((Math.min(calls, callsPerMinute) - left) / perMs))
    },
  }
}
