import type { Clock } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'

/** One request at a time to a host, with a pause between two, however many citations want its pages. */
export type HostTurns = { take<T>(host: string, work: () => Promise<T>): Promise<T> }

export type HostTurnOptions = { clock: Clock; pauseMs: number; waitingMax?: number; waitMsMax?: number }

type Line = { waiting: number; last: Promise<unknown>; nextAtMs: number }

/** From here on, hosts whose pause is over are removed. */
const hostsKept = 1_000

/** Applies within this process; a crawler may ask the same host in between, at its own pace. */
export function createHostTurns(options: HostTurnOptions): HostTurns {
  const { clock, pauseMs, waitingMax = 16, waitMsMax = 8_000 } = options
  const lines = new Map<string, Line>()
  const busy = (host: string) =>
    new Problem('not_ready', { detail: `Too many pages of ${host} are being read.`, retryAfterSeconds: 5 })

  const removeIdle = () => {
    for (const [host, line] of lines) if (line.waiting === 0 && line.nextAtMs <= clock.monotonicMs()) lines.delete(host)
  }
  const turn = async <T>(host: string, line: Line, askedAtMs: number, work: () => Promise<T>): Promise<T> => {
    const waitMs = line.nextAtMs - clock.monotonicMs()
    // Checked before the request: the caller of one that waited this long is about to give up.
    if (clock.monotonicMs() + Math.max(waitMs, 0) - askedAtMs > waitMsMax) throw busy(host)
    if (waitMs > 0) await clock.sleep(waitMs)
    try {
      return await work()
    } finally {
      // Counted from the end of the answer: a slow host gets more rest.
      line.nextAtMs = clock.monotonicMs() + pauseMs
    }
  }
  return {
    take: (host, work) => {
      if (lines.size >= hostsKept) removeIdle()
      const line = lines.get(host) ?? { waiting: 0, last: Promise.resolve(), nextAtMs: 0 }
      lines.set(host, line)
      if (line.waiting >= waitingMax) return Promise.reject(busy(host))
      line.waiting += 1
      const askedAtMs = clock.monotonicMs()
      const taken = line.last
        .then(() => turn(host, line, askedAtMs, work))
        .finally(() => {
          line.waiting -= 1
        })
      line.last = taken.catch(() => {})
      return taken
    },
  }
}
