/** The clock by which a run signs and waits. */
export type Time = { nowMs(): number; waitUntil(ms: number): Promise<void> }

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export const systemTime: Time = {
  nowMs: Date.now,
  waitUntil: (ms) => sleep(Math.max(0, ms - Date.now())),
}

/** Unix seconds, as authorizations carry them. */
export const inSeconds = (time: Pick<Time, 'nowMs'>, seconds: number): string =>
  String(Math.floor(time.nowMs() / 1000) + seconds)

/** What would be waited for passes at once. For tests in which the seller, its chain and the suite share one clock. */
export function createMovableTime(): Time {
  let aheadMs = 0
  const nowMs = () => Date.now() + aheadMs
  return {
    nowMs,
    waitUntil: async (ms) => {
      aheadMs += Math.max(0, ms - nowMs())
    },
  }
}
