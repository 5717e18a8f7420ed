import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for something that must come; what it gives when it came, and an error that names it when it did not. */
export async function until<T>(what: string, look: () => Promise<T | undefined | false>, secondsMax = 90): Promise<T> {
  const startedMs = performance.now()
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() - startedMs > secondsMax * 1000) throw new Error(`not within ${secondsMax} s: ${what}`)
    await sleep(250)
  }
}
