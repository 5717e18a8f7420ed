import type { Clock } from '../kernel/clock.ts'
import type { Database } from '../store/database.ts'
import { createBatcher } from '../store/group-commit.ts'
import type { ClaimOutcome } from '../transitions/decide-claim.ts'
import type { Owner } from './owner.ts'
import { type Intent, writeIntents } from './store-advance.ts'
import { type Claim, insertClaims, leaveUnsettled, reclaimReleased } from './store-claim.ts'

/** Time a claimed payment may take until recovery looks at it even though its owner lives. */
export const claimLeaseMs = 60_000

/** Durable claims and settling intents, group-committed: one write carries what arrived while the last one ran. */
export function createClaims(database: Database, owner: Owner, clock: Clock) {
  const worker = () => ({ owner: owner.id, nowMs: clock.nowMs(), leaseMs: claimLeaseMs })
  const claims = createBatcher<Claim, ClaimOutcome>({
    maxItems: 128,
    maxConcurrent: 2,
    run: async (items) => {
      const outcomes = new Map<Claim, ClaimOutcome>()
      for (const round of rounds(items)) {
        const results = await insertClaims(database, round, worker())
        round.forEach((claim, index) => {
          outcomes.set(claim, results[index] as ClaimOutcome)
        })
      }
      return items.map((item) => outcomes.get(item) as ClaimOutcome)
    },
  })
  const intents = createBatcher<Intent, boolean>({
    maxItems: 128,
    maxConcurrent: 2,
    run: (items) => writeIntents(database, items, worker()),
  })
  const known = createKnown()
  let lastAttempt = 0
  return {
    /** A lease for a settlement; each attempt of a process has another number. */
    lease: (settleMs: number) => ({ attempt: ++lastAttempt, leaseMs: settleMs + claimLeaseMs }),
    /** False when this process already works on this payment or has claimed it, so that copies cost no database call. */
    begin(claim: ClaimKey): boolean {
      const key = keyOf(claim)
      if (known.has(key)) return false
      known.add(key)
      return true
    },
    /** The attempt ended without a claim: the next copy of this payment is processed. */
    remove: (claim: ClaimKey) => known.delete(keyOf(claim)),
    claim: (claim: Claim) => claims.submit(claim),
    reclaim: (claim: Claim) => reclaimReleased(database, claim, worker()),
    /** Before the request gets the answer of an earlier payment; false when this one is worked on, or bought something. */
    leaveUnsettled: (claim: Claim) => leaveUnsettled(database, claim, worker()),
    intend: (intent: Intent) => intents.submit(intent),
  }
}

export type Claims = ReturnType<typeof createClaims>

type ClaimKey = Pick<Claim, 'network' | 'payer' | 'paymentKey'>

const keyOf = (claim: ClaimKey) => `${claim.network} ${claim.payer} ${claim.paymentKey}`

const knownMax = 16_384

/** Payments this process has seen claimed, the oldest evicted first. Only a cache: the database decides. */
function createKnown() {
  const keys = new Set<string>()
  return {
    has: (key: string) => keys.has(key),
    delete: (key: string) => keys.delete(key),
    add(key: string) {
      keys.add(key)
      if (keys.size > knownMax) keys.delete(keys.values().next().value as string)
    },
  }
}

/** Splits a batch so that no payer occurs twice in a statement: its in-flight counter moves once per statement. */
function rounds(items: readonly Claim[]): Claim[][] {
  const result: Claim[][] = []
  const seen: Set<string>[] = []
  for (const item of items) {
    const key = `${item.network} ${item.payer}`
    let round = seen.findIndex((keys) => !keys.has(key))
    if (round < 0) {
      round = seen.push(new Set()) - 1
      result.push([])
    }
    seen[round]?.add(key)
    result[round]?.push(item)
  }
  return result
}
