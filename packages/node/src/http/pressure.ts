import type { Clock } from '@assay/till/kernel/clock'

export type PressureOptions = {
  clock: Clock
  /** Answers as soon as whatever requests wait for is free: a trivial query through the pool. */
  probe?(): Promise<unknown>
  /** Requests being worked on. With few of them nothing can be waiting. */
  inFlight(): number
}

export type Pressure = {
  /** A request came: watch for a while. */
  recordRequest(): void
  /** How long everything has had to wait lately, at least; a single hiccup does not show. */
  lastingMs(): number
  /**
   * How long this process has not come to its timers now: it has been busy with requests that long, or blocked. Or how
   * long its database has not answered: while it is blocked, no sample ends.
   */
  overdueMs(): number
}

const pollEveryMs = 20
const watchForMs = 1_000
/** A wait counts when this many looks in a row saw it; the one that is not over yet is the last of them. */
const samplesInARow = 4
/** Fewer open requests than this are nobody's burden, however late we are. */
export const crowd = 32

/**
 * Counting requests in flight says little: ten that wait for a chain are no load, and a thousand that are answered at once
 * never add up. What tells is how late this process and its database come to things.
 */
export function createPressure({ clock, probe, inFlight }: PressureOptions): Pressure {
  const seen: number[] = []
  let watching = false
  let lastRequestMs = 0
  let dueMs: number | undefined
  let askedMs: number | undefined

  const look = async () => {
    dueMs = clock.monotonicMs() + pollEveryMs
    await clock.sleep(pollEveryMs)
    const probedMs = clock.monotonicMs()
    const lateMs = probedMs - dueMs
    dueMs = undefined
    // A probe that fails is somebody else's trouble: requests find out by themselves.
    if (probe && inFlight() >= crowd) {
      askedMs = probedMs
      await probe().catch(() => {})
      askedMs = undefined
    }
    seen.push(Math.max(lateMs, clock.monotonicMs() - probedMs))
    if (seen.length > samplesInARow) seen.shift()
  }

  const watch = async () => {
    watching = true
    while (clock.monotonicMs() - lastRequestMs < watchForMs) await look()
    watching = false
    seen.length = 0
  }

  const overdueMs = () => {
    const sinceMs = dueMs ?? askedMs
    return sinceMs === undefined ? 0 : clock.monotonicMs() - sinceMs
  }

  return {
    recordRequest: () => {
      lastRequestMs = clock.monotonicMs()
      if (!watching) void watch()
    },
    lastingMs: () => {
      if (seen.length < samplesInARow) return 0
      const [oldest = 0, ...later] = seen
      return Math.min(Math.max(oldest, overdueMs()), ...later)
    },
    overdueMs,
  }
}
