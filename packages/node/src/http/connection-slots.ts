import { Problem } from '@assay/till/kernel/problem'

/** Streams cost memory for as long as they last: few per caller, a bound for all. */
export function createSlots({ perCallerMax, allMax }: { perCallerMax: number; allMax: number }) {
  const open = new Map<string, number>()
  let all = 0
  return {
    /** Returns a function that releases it; calling it twice is harmless. */
    take(caller: string): () => void {
      const mine = open.get(caller) ?? 0
      if (mine >= perCallerMax || all >= allMax)
        throw new Problem('rate_limited', {
          detail: mine >= perCallerMax ? `At most ${perCallerMax} streams per caller.` : 'Too many streams are open.',
          retryAfterSeconds: 30,
        })
      open.set(caller, mine + 1)
      all += 1
      let given = false
      return () => {
        if (given) return
        given = true
        all -= 1
        const left = (open.get(caller) ?? 1) - 1
        if (left === 0) open.delete(caller)
        else open.set(caller, left)
      }
    },
    full: (caller: string) => (open.get(caller) ?? 0) >= perCallerMax || all >= allMax,
    size: () => all,
  }
}

/** Releases the slot when the stream ends in any way, also if it was never begun. */
export function holding<T>(release: () => void, source: AsyncGenerator<T>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        try {
          const step = await source.next()
          if (step.done) release()
          return step
        } catch (error) {
          release()
          throw error
        }
      },
      return: async (value?: unknown) => {
        release()
        await source.return(value)
        return { done: true as const, value: undefined }
      },
    }),
  }
}
