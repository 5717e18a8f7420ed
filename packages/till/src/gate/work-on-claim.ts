import { type Hex, toHex } from '@assay/protocol/bytes'
import type { ChainPort } from '../chain/index.ts'
import type { GateOutcome, PaidCall, PreparedAnswer } from '../contract/paid-call.ts'
import { nowSeconds } from '../kernel/clock.ts'
import { asProblem, Problem } from '../kernel/problem.ts'
import { settleMarginSeconds } from '../schemes/exact/verify-authorization.ts'
import { type Attempt, afterSettlement } from './after-settlement.ts'
import type { GateDeps, VerifiedPayment } from './gate-deps.ts'
import { refuse, refuse402, refuseForLater } from './refuse.ts'
import { settlePayment } from './settle-payment.ts'
import type { Claim } from './store-claim.ts'

/** The claim is ours: prepare, write the intent, settle, finish. Every way out leaves the row in a state recovery knows. */
export async function workOnClaim(
  deps: GateDeps,
  chain: ChainPort,
  call: PaidCall,
  verified: VerifiedPayment,
  claim: Claim,
): Promise<GateOutcome> {
  const prepared = await prepareAnswer(deps, call, verified, claim)
  if (prepared instanceof Problem) {
    await deps.deferred.release(claim.id, prepared.code)
    return { kind: 'refused', problem: prepared }
  }
  const stop = await reasonNotToSettle(deps, chain, call, verified, claim).catch((error: unknown) => {
    void deps.deferred.release(claim.id, 'interrupted')
    throw error
  })
  if (stop) {
    await deps.deferred.release(claim.id, stop.reason)
    return stop.outcome
  }
  const intent = {
    id: claim.id,
    status: prepared.answer.status,
    contentType: prepared.answer.contentType,
    headers: prepared.answer.headers ?? {},
    body: Buffer.from(prepared.answer.body),
    reservation: prepared.reservation,
    ...deps.claims.lease(deps.limits.settleMs),
  }
  const intended = await deps.claims.intend(intent).catch((error: unknown) => {
    // Nothing was sent. Left as it is, whoever named this purchase would wait for the lease of the claim to run out.
    void deps.deferred.release(claim.id, 'interrupted', intent.attempt)
    throw error
  })
  if (!intended) return refuseForLater('payment_in_flight', deps.statusUrl(claim.id), 1)

  return settleAndFinish(deps, chain, call, verified, { claim, prepared, attempt: intent.attempt })
}

/** From here on money may move: whatever goes wrong, the answer is never 402 and never forgets the payment. */
export async function settleAndFinish(
  deps: GateDeps,
  chain: ChainPort,
  call: PaidCall,
  verified: VerifiedPayment,
  attempt: Attempt,
): Promise<GateOutcome> {
  const { claim } = attempt
  const gone = () => deps.deliveries.clientGone(claim.id)
  call.clientGone.addEventListener('abort', gone, { once: true })
  if (call.clientGone.aborted) gone()
  let outcome: GateOutcome
  try {
    const result = await settlePayment(
      { facilitator: deps.facilitator, chain, clock: deps.clock, deadlineMs: deps.limits.settleMs },
      facilitatorPayment(call, verified, claim),
      { payer: claim.payer, payTo: claim.payTo, amountMicro: claim.amountMicro, nonce: claim.paymentKey },
      claim.headBlock,
    )
    deps.metrics.count('payments_settlements', { outcome: result.status, network: claim.network })
    outcome = await afterSettlement(deps, chain, call, attempt, result)
  } catch (error) {
    deps.log.error({ paymentId: claim.id, error: String(error) }, 'a payment was interrupted; recovery ends it')
    // Recovery takes up what is `unknown` at once; without this write it waits for the lease to run out.
    void deps.deferred.markUnknown(claim.id, 'interrupted', attempt.attempt)
    outcome = refuseForLater('settlement_unknown', deps.statusUrl(claim.id), 5)
  }
  // A served answer is watched by the front door until its last byte. Any other leaves nobody waiting: a fresh
  // authorization for the same request is then a retry of this purchase and not a second one.
  if (outcome.kind === 'served') return outcome
  call.clientGone.removeEventListener('abort', gone)
  if (outcome.kind === 'refused' && outcome.problem.status === 503) gone()
  return outcome
}

async function prepareAnswer(
  deps: GateDeps,
  call: PaidCall,
  verified: VerifiedPayment,
  claim: Claim,
): Promise<PreparedAnswer | Problem> {
  try {
    return await call.prepare(verified.payer, claim.id)
  } catch (error) {
    if (!(error instanceof Problem))
      deps.log.error({ paymentId: claim.id, route: claim.routeId, error: String(error) }, 'prepare failed')
    return asProblem(error)
  }
}

type Stop = { reason: string; outcome: GateOutcome }

/** Last look before money may move: is there still a buyer, still time, still room under the cap? */
export async function reasonNotToSettle(
  deps: GateDeps,
  chain: ChainPort,
  call: PaidCall,
  verified: VerifiedPayment,
  claim: Claim,
): Promise<Stop | undefined> {
  if (call.clientGone.aborted)
    return { reason: 'client_gone', outcome: refuse('payment_in_flight', { retryAfterSeconds: 1 }) }
  if (claim.validBefore < BigInt(nowSeconds(deps.clock) + settleMarginSeconds))
    return {
      reason: 'authorization_too_short',
      outcome: refuse402(deps, call, {
        code: 'payment_invalid',
        reason: 'invalid_exact_evm_payload_authorization_valid_before',
        detail: 'The authorization ran out while the answer was prepared; nothing was taken.',
        payer: claim.payer,
        network: claim.network,
      }),
    }
  const signature = verified.payerIsKey ? undefined : await contractStillSigns(deps, chain, call, verified)
  if (signature) return signature
  if (!(await deps.exposure.admit(claim)))
    return { reason: 'exposure_limit', outcome: refuse('exposure_limit', { retryAfterSeconds: 30 }) }
  return undefined
}

/** An account with code decides for itself, and may have changed its mind while the answer was prepared. */
async function contractStillSigns(
  deps: GateDeps,
  chain: ChainPort,
  call: PaidCall,
  verified: VerifiedPayment,
): Promise<Stop | undefined> {
  const { payer, signature, network } = verified
  const verdict = await chain.checkContractSignature(payer, toHex(verified.signedDigest), signature)
  if (verdict === 'valid') return undefined
  if (verdict === 'could_not_check')
    return {
      reason: 'signature_unchecked',
      outcome: refuse('settlement_unavailable', {
        detail: 'The payer’s contract could not be read.',
        retryAfterSeconds: 3,
      }),
    }
  const reason = 'invalid_exact_evm_payload_signature'
  const detail = 'The payer’s contract no longer accepts the signature; nothing was taken.'
  return { reason, outcome: refuse402(deps, call, { code: 'payment_invalid', reason, detail, payer, network }) }
}

function facilitatorPayment(call: PaidCall, verified: VerifiedPayment, claim: Claim) {
  const { terms } = verified
  return {
    paymentId: claim.id,
    network: claim.network,
    asset: claim.asset,
    assetName: terms.network.usdc.name,
    assetVersion: terms.network.usdc.version,
    payTo: claim.payTo,
    amountMicro: claim.amountMicro,
    maxTimeoutSeconds: terms.maxTimeoutSeconds,
    resourceUrl: call.resourceUrl,
    signature: verified.signature as Hex,
    authorization: {
      from: claim.payer,
      to: claim.payTo,
      value: verified.value,
      validAfter: verified.validAfter,
      validBefore: verified.validBefore,
      nonce: claim.paymentKey,
    },
  }
}
