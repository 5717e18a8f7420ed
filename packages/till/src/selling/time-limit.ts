import type { Clock } from '../kernel/clock.ts'
import { Problem } from '../kernel/problem.ts'

/** Default time limit of a handler, after which its caller is asked to retry later. */
export const defaultHandlerMs = 15_000
const pollEveryMs = 250

export type TimeLimit = {
  /** Waits for `work`, but not longer than allowed: then `stop` gets the reason and the caller gets 503, never a hang. */
  run<T>(work: Promise<T>, stop: (reason: Problem) => void): Promise<T>
}

type Running = { dueMs: number; overrun(problem: Problem): void }

/** One watch over all running handlers instead of a timer for each: most of them end within a millisecond. */
export function createTimeLimit(clock: Clock, handlerMsMax = defaultHandlerMs): TimeLimit {
  const running = new Set<Running>()
  let watching = false

  const watch = async () => {
    watching = true
    while (running.size > 0) {
      await clock.sleep(pollEveryMs)
      const now = clock.monotonicMs()
      for (const entry of running) if (entry.dueMs <= now) entry.overrun(tookTooLong())
    }
    watching = false
  }

  return {
    run: (work, stop) =>
      new Promise((resolve, reject) => {
        const entry: Running = {
          dueMs: clock.monotonicMs() + handlerMsMax,
          overrun(problem) {
            running.delete(entry)
            stop(problem)
            reject(problem)
          },
        }
        running.add(entry)
        if (!watching) void watch()
        work.then(
          (value) => {
            running.delete(entry)
            resolve(value)
          },
          (error: unknown) => {
            running.delete(entry)
            reject(error)
          },
        )
      }),
  }
}

function tookTooLong(): Problem {
  return new Problem('upstream_unavailable', { detail: 'The answer took too long to make.', retryAfterSeconds: 5 })
}
