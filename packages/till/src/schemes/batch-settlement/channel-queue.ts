import type { Clock } from '../../kernel/clock.ts'

export type QueueLimits = {
  /** How many requests of one channel wait behind the one that is served: of those that continue it, and of the others. */
  waitingMax: number
  waitMs: number
  /** After one request got the right base, others with a wrong one wait at most this long for it to come back. */
  graceMs: number
}

export const defaultQueueLimits: QueueLimits = { waitingMax: 64, waitMs: 10_000, graceMs: 1_000 }

/** `fresh`: whether the voucher continues the channel as it is now. */
type Waiting = { fresh(): boolean; go(): void; sinceMs: number }

type Line = { busy: boolean; waiting: Waiting[]; graceUntilMs: number; timer: AbortController | undefined }

/**
 * One request of a channel at a time. A client that sends several at once signs the same voucher for all of them: those
 * whose turn has passed wait, and are corrected one after the other, so that each correction is used before the next.
 */
export function createChannelQueue(clock: Clock, limits: QueueLimits = defaultQueueLimits) {
  const lines = new Map<string, Line>()

  const next = (key: string, line: Line): void => {
    line.timer?.abort()
    line.timer = undefined
    if (line.busy) return
    if (line.waiting.length === 0) {
      if (clock.monotonicMs() >= line.graceUntilMs) lines.delete(key)
      else wake(key, line, line.graceUntilMs - clock.monotonicMs())
      return
    }
    const nowMs = clock.monotonicMs()
    const fresh = line.waiting.findIndex((one) => one.fresh())
    const overdue = line.waiting.findIndex((one) => nowMs - one.sinceMs >= limits.waitMs)
    const place = fresh >= 0 ? fresh : nowMs >= line.graceUntilMs ? 0 : overdue
    if (place < 0) {
      wake(key, line, Math.max(1, line.graceUntilMs - nowMs))
      return
    }
    const [one] = line.waiting.splice(place, 1)
    line.busy = true
    one?.go()
  }
  const wake = (key: string, line: Line, ms: number) => {
    const timer = new AbortController()
    line.timer = timer
    clock.sleep(ms, timer.signal).then(
      () => next(key, line),
      () => {},
    )
  }

  return {
    /** Runs `work` when it is this request's turn; undefined when too many wait already. */
    async run<T>(
      key: string,
      fresh: () => boolean,
      work: (corrected: () => void) => Promise<T>,
    ): Promise<T | undefined> {
      const line = lines.get(key) ?? { busy: false, waiting: [], graceUntilMs: 0, timer: undefined }
      lines.set(key, line)
      // Anybody can send an old voucher again and again: that keeps no room from the payer.
      const isFresh = fresh()
      if (line.waiting.filter((one) => one.fresh() === isFresh).length >= limits.waitingMax) return undefined
      await new Promise<void>((go) => {
        line.waiting.push({ fresh, go, sinceMs: clock.monotonicMs() })
        next(key, line)
      })
      try {
        // The one that was waited for is back; the next correction begins the next wait.
        if (fresh()) line.graceUntilMs = 0
        return await work(() => {
          line.graceUntilMs = clock.monotonicMs() + limits.graceMs
        })
      } finally {
        line.busy = false
        next(key, line)
      }
    },
    size: () => lines.size,
  }
}

export type ChannelQueue = ReturnType<typeof createChannelQueue>
