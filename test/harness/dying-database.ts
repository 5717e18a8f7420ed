import type { Database, HeldLock } from '../../packages/till/src/store/database.ts'
import { StoreUnavailable } from '../../packages/till/src/store/errors.ts'

/** The database of a process that can die: from then on it reads and writes nothing, and its locks are dropped later. */
export function createDyingDatabase() {
  let dead = false
  const locks: HeldLock[] = []
  const refuse = () => (dead ? Promise.reject(new StoreUnavailable('the process is dead')) : undefined)
  return {
    die: () => {
      dead = true
    },
    /** As PostgreSQL does for a process that died. */
    dropLocks: async () => {
      for (const lock of locks) await lock.release()
    },
    intercept: (real: Database): Database => ({
      ...real,
      query: async (...given) => refuse() ?? real.query(...given),
      transaction: async (...given) => refuse() ?? real.transaction(...given),
      holdLock: async (key) => {
        const lock = await real.holdLock(key)
        locks.push(lock)
        return lock
      },
    }),
  }
}
