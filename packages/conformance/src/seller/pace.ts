const perSecond = 20

type Time = { now(): number; sleep(ms: number): Promise<unknown> }

const systemTime: Time = { now: Date.now, sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) }

/** On this machine as fast as it goes; elsewhere at most 20 requests a second. */
export function createPace(isLoopback: boolean, time: Time = systemTime): () => Promise<void> {
  let nextMs = 0
  return async () => {
    if (isLoopback) return
    const now = time.now()
    const wait = nextMs - now
    nextMs = Math.max(nextMs, now) + 1000 / perSecond
    if (wait > 0) await time.sleep(wait)
  }
}
