import { setMaxListeners } from 'node:events'
import type { Hex } from '@assay/protocol/bytes'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Database } from '../store/database.ts'
import { isTransient } from '../store/errors.ts'
import { moves } from '../transitions/state-changes.ts'
import { claimLeaseMs } from './claims.ts'
import type { Owner } from './owner.ts'
import { endPayment } from './store-advance.ts'

export type DeferredDeps = { database: Database; owner: Owner; clock: Clock; log: Log }

const firstPauseMs = 250
const pauseMsMax = 4_000
/** After this time recovery may have taken over the payment by its lease, and this process must not end it. */
const givenUpAfterMs = claimLeaseMs * 0.75
/**
 * Limits how many are written at once when a database returns after a long failure; the lease covers the others. What may
 * have moved money does not queue behind claims that may not even exist.
 */
const pendingMax = { released: 512, unknown: 4_096 }
/** A claim whose connection broke may be written after we looked for it. */
const lookedForAfterMs = [0, 1_000, 3_000]

type DeferredEnd = {
  id: string
  move: typeof moves.release | typeof moves.withdraw | typeof moves.markUnknown
  reason: string
  attempt?: number
  transaction?: Hex
}

const leftToLease = (log: Log, paymentId: string, error: unknown) =>
  log.error({ paymentId, error: String(error) }, 'the end of a payment was not written; it is left to its lease')

async function retryLater(
  { clock, log, signal }: Pick<DeferredDeps, 'clock' | 'log'> & { signal: AbortSignal },
  paymentId: string,
  write: () => Promise<unknown>,
): Promise<void> {
  const startedMs = clock.monotonicMs()
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, pauseMsMax))
    try {
      await clock.sleep(pauseMs, signal)
      await write()
      return
    } catch (error) {
      const isOver = signal.aborted || clock.monotonicMs() - startedMs >= givenUpAfterMs
      if (isOver || !isTransient(error)) return leftToLease(log, paymentId, error)
    }
}

/**
 * Transitions that must be written though the request is over, or about to fail: without them a retry of the same
 * purchase would wait until the lease of the claim runs out. Tried once while the caller waits, and then in the background
 * until the database is back. Nothing here ever throws.
 */
export function createDeferredTransitions({ database, owner, clock, log }: DeferredDeps) {
  const stopping = new AbortController()
  // As many may wait for it as are pending.
  setMaxListeners(0, stopping.signal)
  const pending = { released: 0, unknown: 0 }

  /** Whether a payment was moved; undefined while that is still being tried. */
  async function end({ attempt, ...ending }: DeferredEnd): Promise<boolean | undefined> {
    const worker = { owner: owner.id, ...(attempt === undefined ? {} : { attempt }) }
    const write = () => endPayment(database, { ...ending, worker }, clock.nowMs())
    const { to } = ending.move
    try {
      return await write()
    } catch (error) {
      if (!isTransient(error) || pending[to] >= pendingMax[to]) leftToLease(log, ending.id, error)
      else {
        pending[to] += 1
        void retryLater({ clock, log, signal: stopping.signal }, ending.id, write).finally(() => {
          pending[to] -= 1
        })
      }
      return undefined
    }
  }

  const release = (paymentId: string, reason: string, attempt?: number) =>
    end({
      ...{ id: paymentId, move: attempt === undefined ? moves.release : moves.withdraw, reason },
      ...(attempt === undefined ? {} : { attempt }),
    })

  async function findClaim(paymentId: string): Promise<void> {
    for (const pauseMs of lookedForAfterMs) {
      if (pauseMs > 0) await clock.sleep(pauseMs, stopping.signal)
      if ((await release(paymentId, 'interrupted')) !== false) return
    }
  }

  return {
    /**
     * Nothing was sent for this claim. A release that is written late may meet a claim that the same payment has taken
     * up again: before its intent that only costs another try, after it the attempt tells the two apart.
     */
    async release(paymentId: string, reason: string, attempt?: number): Promise<void> {
      await release(paymentId, reason, attempt)
    },
    /** The claim may exist, or may yet, and nobody will work on it. */
    releaseInDoubt(paymentId: string): void {
      findClaim(paymentId).catch(() => undefined)
    },
    /** Money may have moved in this attempt: recovery asks the chain. */
    async markUnknown(paymentId: string, reason: string, attempt: number, transaction?: Hex): Promise<void> {
      await end({ id: paymentId, move: moves.markUnknown, reason, attempt, ...(transaction ? { transaction } : {}) })
    },
    stop: async () => stopping.abort(),
  }
}

export type DeferredTransitions = ReturnType<typeof createDeferredTransitions>
