import type { Clock } from '../kernel/clock.ts'
import { Problem } from '../kernel/problem.ts'

/** Longest a handler may take before its caller is told to come back. */
export const handlerMsMax = 15_000
const lookEveryMs = 250

export type TimeLimit = {
  /** Runs `work` with a signal that ends with `outer` or with the time; overrunning is 503, never a hang. */
  run<T>(outer: () => AbortSignal, work: (signal: () => AbortSignal) => Promise<T>): Promise<T>
}

type Running = { dueMs: number; overrun(problem: Problem): void }

/** One watch over all running handlers instead of a timer for each: most of them end within a millisecond. */
export function createTimeLimit(clock: Clock): TimeLimit {
  const running = new Set<Running>()
  let watching = false

  const watch = async () => {
    watching = true
    while (running.size > 0) {
      await clock.sleep(lookEveryMs)
      const now = clock.monotonicMs()
      for (const entry of running) if (entry.dueMs <= now) entry.overrun(tookTooLong())
    }
    watching = false
  }

  return {
    run: (outer, work) =>
      new Promise((resolve, reject) => {
        let controller: AbortController | undefined
        const entry: Running = {
          dueMs: clock.monotonicMs() + handlerMsMax,
          overrun(problem) {
            running.delete(entry)
            controller?.abort(problem)
            reject(problem)
          },
        }
        running.add(entry)
        if (!watching) void watch()
        const made = work(() => {
          controller ??= followedBy(outer())
          return controller.signal
        })
        made.then(
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

/** AbortSignal.any costs more than the rest of a small request; one listener does the same here. */
function followedBy(outer: AbortSignal): AbortController {
  const controller = new AbortController()
  if (outer.aborted) controller.abort(outer.reason)
  else outer.addEventListener('abort', () => controller.abort(outer.reason), { once: true })
  return controller
}

function tookTooLong(): Problem {
  return new Problem('upstream_unavailable', { detail: 'The answer took too long to make.', retryAfterSeconds: 5 })
}
