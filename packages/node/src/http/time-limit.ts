import type { Clock } from '../kernel/clock.ts'
import { Problem } from '../kernel/problem.ts'

/** Longest a handler may take before its caller is told to come back. */
export const handlerMsMax = 15_000

/** Runs `work` with a signal that ends with the caller's or with the time; overrunning is 503, never a hang. */
export async function withTimeLimit<T>(
  clock: Clock,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const overrun = new AbortController()
  const done = new AbortController()
  const late = clock.sleep(handlerMsMax, done.signal).then(
    () => {
      const problem = new Problem('upstream_unavailable', {
        detail: 'The answer took too long to make.',
        retryAfterSeconds: 5,
      })
      overrun.abort(problem)
      throw problem
    },
    () => new Promise<never>(() => {}),
  )
  try {
    return await Promise.race([work(AbortSignal.any([outer, overrun.signal])), late])
  } finally {
    done.abort()
  }
}
