/**
 * Many readers or one writer. A writer keeps readers out from the making of a block until it is in the journal,
 * so nobody can act on a block that a crash would unmake.
 */
export type ReadWriteLock = {
  shared<T>(work: () => Promise<T>): Promise<T>
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

export function createReadWriteLock(): ReadWriteLock {
  let readers = 0
  let lastWriter: Promise<unknown> | undefined
  let readersGone: (() => void) | undefined

  return {
    shared: async (work) => {
      while (lastWriter !== undefined) await lastWriter
      readers += 1
      try {
        return await work()
      } finally {
        readers -= 1
        if (readers === 0) readersGone?.()
      }
    },
    exclusive: (work) => {
      const before = lastWriter
      const run = (async () => {
        await before
        if (readers > 0) {
          await new Promise<void>((resolve) => {
            readersGone = resolve
          })
          readersGone = undefined
        }
        return work()
      })()
      const done: Promise<unknown> = run
        .catch(() => {})
        .then(() => {
          if (lastWriter === done) lastWriter = undefined
        })
      lastWriter = done
      return run
    },
  }
}
