import type { Clock } from '@assay/till/kernel/clock'
import type { Database } from '@assay/till/store/database'

export type WorkWatch = {
  /** Returns once there may be something to do: notified, one of `others` ended, `atMostMs` later, or the shop closes. */
  wait(atMostMs: number, others?: Iterable<Promise<void>>): Promise<void>
  stop(): Promise<void>
}

/** Sent when pages of a host are wanted, and when a source wants a score. */
export const crawlWantedChannel = 'crawl_wanted'
export const scoreWantedChannel = 'score_wanted'

/** Listens on a channel for one waiter. A message that comes while it does not wait is kept for when it does. */
export async function watchForWork(
  deps: { database: Database; clock: Clock },
  channel: string,
  signal: AbortSignal,
): Promise<WorkWatch> {
  let notified = false
  let wake = () => {}
  const tell = () => {
    notified = true
    wake()
  }
  // A connection that broke may have lost a message: looking once too often costs nothing.
  const stopListening = await deps.database.listen(channel, tell, tell)
  signal.addEventListener('abort', tell, { once: true })
  return {
    wait: async (atMostMs, others = []) => {
      const over = new AbortController()
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      if (!notified && !signal.aborted)
        await Promise.race([woken, ...others, deps.clock.sleep(atMostMs, over.signal).catch(() => {})])
      over.abort(new Error('no longer waiting'))
      notified = false
    },
    stop: async () => {
      signal.removeEventListener('abort', tell)
      tell()
      await stopListening()
    },
  }
}
