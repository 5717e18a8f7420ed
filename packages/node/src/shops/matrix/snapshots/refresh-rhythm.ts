import type { Clock } from '@assay/till/kernel/clock'

/** Time alone makes files public for the free tier, so a refresh is due now and then without any news. */
const everyMs = 20_000
/** Files come in groups: each of them alone would have everything made again. */
const quietMs = 3_000
/** Where they do not stop coming, what is there is shown at least so often. */
const patienceMs = 60_000
/** Making snapshots may take this part of the time of a processor while files keep coming. */
const shareMax = 1 / 12

export type RefreshRhythm = {
  /** A file came in. */
  news(): void
  /** Whether to refresh now; asked every second or so. */
  due(): boolean
  /** A refresh that was due has ended. */
  done(): void
}

/** When to make snapshots again: soon after the last file of a group, and never so often that buyers would feel it. */
export function createRefreshRhythm(clock: Pick<Clock, 'monotonicMs'>): RefreshRhythm {
  let firstNewsMs: number | undefined
  let lastNewsMs = 0
  let startedMs = clock.monotonicMs()
  let notBeforeMs = 0
  return {
    news: () => {
      lastNewsMs = clock.monotonicMs()
      firstNewsMs ??= lastNewsMs
    },
    due: () => {
      const nowMs = clock.monotonicMs()
      const quiet = firstNewsMs !== undefined && nowMs - lastNewsMs >= quietMs
      const waitedLong = firstNewsMs !== undefined && nowMs - firstNewsMs >= patienceMs && nowMs >= notBeforeMs
      if (!quiet && !waitedLong && (firstNewsMs !== undefined || nowMs - startedMs < everyMs)) return false
      firstNewsMs = undefined
      startedMs = nowMs
      return true
    },
    done: () => {
      const nowMs = clock.monotonicMs()
      notBeforeMs = nowMs + (nowMs - startedMs) / shareMax
    },
  }
}
