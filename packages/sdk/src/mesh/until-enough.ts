import type { Platform } from '../platform.ts'

export type UntilEnough<T, R> = {
  platform: Pick<Platform, 'timeout'>
  atOnce: number
  enough: number
  /** What is under way or waits when there is a first result has this long. */
  graceMs: number
  work(item: T, until: AbortSignal): Promise<R | undefined>
}

/** Longer than this, an item is waited for beside others and no longer in their place. */
const placeMs = 250

/** Works on items in their order, several at once, until there are enough results; those that hang hold up nobody. */
export async function untilEnough<T, R>(items: readonly T[], options: UntilEnough<T, R>): Promise<R[]> {
  const { platform, atOnce, enough, graceMs, work } = options
  // One for each item: a signal for all would gather a listener for each.
  const stops = new Set<AbortController>()
  let late = false
  const results: R[] = []
  const inProgress: Promise<void>[] = []
  let grace: ReturnType<Platform['timeout']> | undefined
  let next = 0
  const stopAll = () => {
    late = true
    for (const stop of stops) stop.abort()
  }
  const workOn = async (item: T) => {
    const stop = new AbortController()
    stops.add(stop)
    const result = await work(item, stop.signal).finally(() => stops.delete(stop))
    if (result === undefined) return
    results.push(result)
    if (grace !== undefined) return
    grace = platform.timeout(graceMs)
    grace.signal.addEventListener('abort', stopAll, { once: true })
  }
  const worker = async () => {
    while (next < items.length && results.length < enough && !late) {
      const working = workOn(items[next] as T)
      next += 1
      inProgress.push(working)
      const place = platform.timeout(placeMs)
      const left = new Promise<void>((resolve) => {
        place.signal.addEventListener('abort', () => resolve(), { once: true })
      })
      await Promise.race([working, left])
      place.clear()
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  await Promise.all(inProgress)
  grace?.clear()
  return results
}
