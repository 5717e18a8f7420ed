export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Polls until it is so, and returns what was seen; ever less often, since a poll may cost more than what it waits for.
 * The limit only ends what hangs: a busy machine is slow.
 */
export async function until<T>(
  what: string,
  check: () => T | undefined | false | Promise<T | undefined | false>,
  { withinMs = 90_000 } = {},
): Promise<T> {
  let pauseMs = 25
  for (const giveUpAt = Date.now() + withinMs; Date.now() < giveUpAt; await pause(pauseMs)) {
    const seen = await check()
    if (seen) return seen
    pauseMs = Math.min(pauseMs * 1.3, 200)
  }
  throw new Error(`it did not happen within ${withinMs / 1_000} s: ${what}`)
}

/** At most `n` at once, until all are done; the first error ends it. */
export async function together(count: number, atOnce: number, work: (index: number, worker: number) => Promise<void>) {
  let next = 0
  const worker = async (number: number) => {
    while (next < count) {
      const index = next
      next += 1
      await work(index, number)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, (_, number) => worker(number)))
}
