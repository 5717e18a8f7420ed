import { sleep } from '@assay/protocol/sleep'

/** Time is a port, so that tests, simulation and recovery can move it. */
export type Clock = {
  nowMs(): number
  /** Resolves after `ms`, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Monotonic, for durations only. */
  monotonicMs(): number
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep,
}

export function nowSeconds(clock: Clock): number {
  return Math.floor(clock.nowMs() / 1000)
}

/** RFC 3339 text as every `*_at` field carries it. */
export function toRfc3339(ms: number): string {
  return new Date(ms).toISOString()
}
