import type { Clock } from '@assay/till/kernel/clock'

export type ExpectedWait = {
  enter(): void
  leave(): void
  inFlight(): number
  /** How long one more would take, as things go: those before it, at the pace of the last second (Little's law). */
  ms(): number
}

const windowMs = 1_000

export function createExpectedWait(clock: Clock): ExpectedWait {
  let inFlight = 0
  let window = 0
  let done = 0
  let doneBefore = 0

  /** Moves to the window of now; who left in the one before still counts for the part of it that a second reaches back. */
  const turn = (): number => {
    const nowMs = clock.monotonicMs()
    const current = Math.floor(nowMs / windowMs)
    if (current !== window) {
      doneBefore = current === window + 1 ? done : 0
      done = 0
      window = current
    }
    return nowMs / windowMs - current
  }

  return {
    enter: () => {
      inFlight += 1
    },
    leave: () => {
      turn()
      inFlight -= 1
      done += 1
    },
    inFlight: () => inFlight,
    ms: () => {
      const elapsed = turn()
      return (inFlight * windowMs) / (done + doneBefore * (1 - elapsed))
    },
  }
}
