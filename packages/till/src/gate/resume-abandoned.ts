import type { ChainPort } from '../chain/index.ts'
import type { GateOutcome, PaidCall } from '../contract/paid-call.ts'
import type { PaymentRecord } from '../contract/payment-record.ts'
import { mayResume } from '../transitions/decide-claim.ts'
import { ownerGone } from '../transitions/moves.ts'
import type { GateDeps, VerifiedPayment } from './gate-deps.ts'
import { readAnswer, takeUpAgain } from './store-advance.ts'
import type { Claim } from './store-claim.ts'
import { reasonNotToSettle, settleAndFinish } from './work-on-claim.ts'

/**
 * A process died between its intent and the settlement, and nobody can tell yet whether it sent anything. The buyer is
 * back with the very same authorization, which can move money once however often it is sent: it is settled now, instead
 * of keeping the buyer waiting until its time has passed at a final block. Recovery alone never does this, for there the
 * buyer has gone.
 */
export async function resumeAbandoned(
  deps: GateDeps,
  chain: ChainPort,
  call: PaidCall,
  verified: VerifiedPayment,
  claim: Claim,
  earlier: PaymentRecord,
): Promise<GateOutcome | undefined> {
  const sameRequest = earlier.fingerprint.equals(verified.fingerprint)
  const sameAuthorization =
    earlier.paymentKey === verified.paymentKey &&
    earlier.network === claim.network &&
    earlier.signedDigest?.equals(verified.signedDigest) === true
  if (!mayResume({ ...earlier, sameRequest, sameAuthorization })) return undefined
  // The quote that was stored stands, and what was seen on chain is judged from the first claim on.
  const first: Claim = { ...claim, id: earlier.id, headBlock: earlier.headBlock, amountMicro: earlier.amountMicro }
  const stored = await readAnswer(deps.database, earlier.id)
  if (!stored || (await reasonNotToSettle(deps, chain, call, verified, first))) return undefined
  const { attempt, leaseMs } = deps.claims.lease(deps.limits.settleMs)
  const worker = { owner: deps.owner.id, nowMs: deps.clock.nowMs(), attempt, leaseMs }
  const taken = await takeUpAgain(deps.database, earlier.id, worker).catch((error: unknown) => {
    // As it was, for the next try.
    void deps.deferred.markUnknown(earlier.id, ownerGone, attempt)
    throw error
  })
  if (!taken) return undefined
  deps.metrics.count('payments_recovered', { outcome: 'resumed' })
  const { status, contentType, headers, body, reservation } = stored
  const prepared = { answer: { status, contentType, headers, body }, reservation }
  return settleAndFinish(deps, chain, call, verified, { claim: first, prepared, attempt })
}
