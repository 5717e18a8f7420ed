import type { Clock } from '@assay/till/kernel/clock'
import type { Sql } from '@assay/till/store/database'
import { type LogStop, reasonNotToSign } from './reason-not-to-sign.ts'
import { readTree } from './store.ts'

export type LogGuard = {
  /** Why the log is stopped, so that nothing is sold that could not be logged. No I/O: asked on every request. */
  stopped(): LogStop | undefined
  /** Read now. */
  stop(): Promise<LogStop | undefined>
}

const readMs = 1_000

/** The state of the log as routes see it: at most a second old and renewed behind their back. */
export async function openGuard(deps: {
  database: Sql
  clock: Clock
  origin: string
  confirmAfter?: Date | undefined
}): Promise<LogGuard> {
  const { clock, origin } = deps
  const read = async () => reasonNotToSign(await readTree(deps.database), origin, deps.confirmAfter)
  let stopped = await read()
  let readAtMs = clock.monotonicMs()
  const stop = async () => {
    readAtMs = clock.monotonicMs()
    stopped = await read()
    return stopped
  }
  return {
    stop,
    stopped: () => {
      if (clock.monotonicMs() - readAtMs >= readMs) stop().catch(() => {})
      return stopped
    },
  }
}
