import type { Hex } from '../kernel/bytes.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Database } from '../store/database.ts'
import { claimLeaseMs } from './claims.ts'
import type { Owner } from './owner.ts'
import { type Ending, endPayment } from './store-advance.ts'

export type LooseEndsDeps = { database: Database; owner: Owner; clock: Clock; log: Log }

const firstPauseMs = 250
const pauseMsMax = 4_000
/** Beyond this recovery may hold the payment by its lease, and it is no longer ours to end. */
const givenUpAfterMs = claimLeaseMs * 0.75
/** A database that is gone for long must not find a crowd of these when it comes back; the lease covers the others. */
const pendingMax = 512

/**
 * Ends of payments that must be written though the request is over, or is about to fail: without them whoever named the
 * purchase would wait until the lease of the claim runs out. Tried once while the caller waits, and then behind it until the
 * database is back.
 */
export function createLooseEnds({ database, owner, clock, log }: LooseEndsDeps) {
  const stopping = new AbortController()
  let pending = 0

  async function end(ending: Ending): Promise<void> {
    const write = () => endPayment(database, { ...ending, owner: owner.id }, clock.nowMs())
    try {
      await write()
    } catch (error) {
      if (pending >= pendingMax) return leftToLease(ending.id, error)
      pending += 1
      void tieLater(ending.id, write).finally(() => {
        pending -= 1
      })
    }
  }

  const leftToLease = (paymentId: string, error: unknown) =>
    log.warn({ paymentId, error: String(error) }, 'a payment is left to its lease')

  async function tieLater(paymentId: string, write: () => Promise<unknown>): Promise<void> {
    const startedMs = clock.monotonicMs()
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, pauseMsMax))
      try {
        await clock.sleep(pauseMs, stopping.signal)
        await write()
        return
      } catch (error) {
        if (!stopping.signal.aborted && clock.monotonicMs() - startedMs < givenUpAfterMs) continue
        return leftToLease(paymentId, error)
      }
  }

  return {
    /**
     * Nothing was sent for this claim. A release that is written late may meet a claim that the same authorization has taken
     * up anew: before its intent that only costs another try, after it `intendedUntilMs` tells the two apart.
     */
    letGo: (paymentId: string, reason: string, intendedUntilMs?: number) =>
      end({
        id: paymentId,
        from: intendedUntilMs === undefined ? ['claimed'] : ['claimed', 'settling'],
        to: 'released',
        reason,
        ...(intendedUntilMs === undefined ? {} : { intendedUntilMs }),
      }),
    /** Money may have moved: recovery asks the chain. */
    park: (paymentId: string, reason: string, transaction?: Hex) =>
      end({ id: paymentId, from: ['settling'], to: 'unknown', reason, ...(transaction ? { transaction } : {}) }),
    stop: async () => stopping.abort(),
  }
}

export type LooseEnds = ReturnType<typeof createLooseEnds>
