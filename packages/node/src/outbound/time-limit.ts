import type { Clock } from '@assay/till/kernel/clock'
import { ended, linkSignals } from './linked-signal.ts'

/** Why a signal of `withTimeLimit` was aborted when it was not the caller. */
export class TimeIsUp extends Error {}

/** One limit over everything that `work` does, by the clock of the node; the caller may end it sooner. */
export async function withTimeLimit<T>(
  clock: Clock,
  ms: number,
  parent: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limited = linkSignals([parent])
  clock.sleep(ms, limited.signal).then(
    () => limited.abort(new TimeIsUp('the time was up')),
    () => {},
  )
  try {
    return await work(limited.signal)
  } finally {
    limited.abort(ended)
    limited.release()
  }
}
