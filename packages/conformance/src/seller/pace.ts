import { systemTime, type Time } from '../time.ts'

const perSecond = 20

/** On this machine as fast as it goes; elsewhere at most 20 requests a second. */
export function createPace(isLoopback: boolean, time: Time = systemTime): () => Promise<void> {
  let nextMs = 0
  return async () => {
    if (isLoopback) return
    const atMs = Math.max(nextMs, time.nowMs())
    nextMs = atMs + 1000 / perSecond
    await time.waitUntil(atMs)
  }
}
