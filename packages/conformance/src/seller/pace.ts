const perSecond = 20

/** On this machine as fast as it goes; elsewhere at most 20 requests a second. */
export function createPace(isLoopback: boolean): () => Promise<void> {
  let nextMs = 0
  return async () => {
    if (isLoopback) return
    const now = Date.now()
    const wait = nextMs - now
    nextMs = Math.max(nextMs, now) + 1000 / perSecond
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
  }
}
