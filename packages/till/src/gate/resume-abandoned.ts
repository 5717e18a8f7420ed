import type { GateOutcome } from '../contract/paid-call.ts'
import type { PaymentRecord } from '../contract/payment-record.ts'
import { mayResume } from '../transitions/decide-claim.ts'
import { ownerGone } from '../transitions/state-changes.ts'
import type { GateDeps } from './gate-deps.ts'
import type { Purchase } from './purchase.ts'
import { readAnswer, resumeClaim } from './store-advance.ts'
import type { Claim } from './store-claim.ts'
import { reasonNotToSettle, settleAndFinish } from './work-on-claim.ts'

/**
 * A process died between its intent and the settlement, and nobody can tell yet whether it sent anything. The buyer is
 * back with the very same payment, which can move money once however often it is sent: it is settled now, instead
 * of keeping the buyer waiting until its time has passed at a final block. Recovery alone never does this, for there the
 * buyer has gone.
 */
export async function resumeAbandoned(
  deps: GateDeps,
  purchase: Purchase,
  claim: Claim,
  earlier: PaymentRecord,
): Promise<GateOutcome | undefined> {
  const sameRequest = earlier.fingerprint.equals(claim.fingerprint)
  const samePayment =
    earlier.paymentKey === claim.paymentKey &&
    earlier.network === claim.network &&
    earlier.signedDigest?.equals(claim.signedDigest) === true
  if (!mayResume({ ...earlier, sameRequest, sameAuthorization: samePayment })) return undefined
  // The stored quote still applies, and what was seen on chain is decided from the first claim on.
  const { id, headBlock, quotedMicro, amountMicro } = earlier
  const first: Claim = { ...claim, id, headBlock, quotedMicro, amountMicro }
  const stored = await readAnswer(deps.database, earlier.id)
  if (!stored || (await reasonNotToSettle(deps, purchase, first))) return undefined
  const { attempt, leaseMs } = deps.claims.lease(deps.limits.settleMs)
  const worker = { owner: deps.owner.id, nowMs: deps.clock.nowMs(), attempt, leaseMs }
  const taken = await resumeClaim(deps.database, earlier.id, worker).catch((error: unknown) => {
    // As it was, for the next try.
    void deps.deferred.markUnknown(earlier.id, ownerGone, attempt)
    throw error
  })
  if (!taken) return undefined
  deps.metrics.count('payments_recovered', { outcome: 'resumed' })
  const { status, contentType, headers, body, reservation } = stored
  const prepared = { answer: { status, contentType, headers, body }, reservation }
  return settleAndFinish(deps, purchase, { claim: first, prepared, attempt })
}
