import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Database } from '../store/database.ts'
import { createBatcher } from '../store/group-commit.ts'
import { markClientGone, markDelivered } from './store-advance.ts'

/** Which answers reached their buyer to the last byte. Written after the response, so no request waits for it. */
export function createDeliveries(database: Database, clock: Clock, log: Log) {
  const pendingGone = new Map<string, Promise<void>>()
  const batcher = createBatcher<string, void>({
    maxItems: 256,
    maxConcurrent: 1,
    run: async (ids) => {
      await markDelivered(database, ids, clock.nowMs())
      return ids.map(() => undefined)
    },
  })
  return {
    /** Resolves when it is recorded or given up: losing the record does not undo the delivery. */
    delivered(paymentId: string): Promise<void> {
      return batcher
        .submit(paymentId)
        .catch((error: unknown) => log.warn({ paymentId, error: String(error) }, 'delivery not recorded'))
    },
    clientGone(paymentId: string): void {
      const write = tryAgain(() => markClientGone(database, paymentId), clock)
        .catch((error: unknown) => log.warn({ paymentId, error: String(error) }, 'lost client not recorded'))
        .finally(() => pendingGone.delete(paymentId))
      pendingGone.set(paymentId, write)
    },
    /** A retry right after a broken connection must see that the answer was not delivered. */
    async flushGone(): Promise<void> {
      if (pendingGone.size > 0) await Promise.all(pendingGone.values())
    },
    idle: () => batcher.idle(),
  }
}

const attemptsMax = 5

/** A short failure of the database must not turn a retry into a second purchase. */
async function tryAgain(work: () => Promise<void>, clock: Clock): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= attemptsMax) throw error
      await clock.sleep(50 * 2 ** attempt)
    }
  }
}

export type Deliveries = ReturnType<typeof createDeliveries>
