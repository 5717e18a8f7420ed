import type { Micro } from '@assay/protocol/money'
import type { GateOutcome, PreparedAnswer } from '../contract/paid-call.ts'
import type { Scheme } from '../contract/scheme.ts'
import { nowSeconds } from '../kernel/clock.ts'
import { traced } from '../kernel/metrics.ts'
import { asProblem, Problem } from '../kernel/problem.ts'
import { type Attempt, afterSettlement, serveFree } from './after-settlement.ts'
import type { GateDeps } from './gate-deps.ts'
import type { Purchase } from './purchase.ts'
import { refuse, refuse402, refuseRetryLater } from './refuse.ts'
import { settlePayment } from './settle-payment.ts'
import type { Claim } from './store-claim.ts'

/** The claim is ours: prepare, write the intent, settle, finish. Every way out leaves the row in a state recovery knows. */
export async function workOnClaim(deps: GateDeps, purchase: Purchase, claimed: Claim): Promise<GateOutcome> {
  const prepared = await prepareAnswer(deps, purchase, claimed)
  if (prepared instanceof Problem) {
    await deps.deferred.release(claimed.id, prepared.code)
    return { kind: 'refused', problem: prepared }
  }
  const claim = { ...claimed, amountMicro: prepared.chargeMicro }
  const stop = await reasonNotToSettle(deps, purchase, claim).catch(async (error: unknown) => {
    await deps.deferred.release(claim.id, 'interrupted')
    throw error
  })
  if (stop) {
    await deps.deferred.release(claim.id, stop.reason)
    return stop.outcome
  }
  const intent = {
    id: claim.id,
    chargeMicro: claim.amountMicro,
    status: prepared.answer.status,
    contentType: prepared.answer.contentType,
    headers: prepared.answer.headers ?? {},
    body: Buffer.from(prepared.answer.body),
    reservation: prepared.reservation,
    ...deps.claims.lease(deps.limits.settleMs),
  }
  const intended = await deps.claims.intend(intent).catch(async (error: unknown) => {
    // Nothing was sent. Without the release, a retry of this purchase would wait for the lease of the claim to run out.
    await deps.deferred.release(claim.id, 'interrupted', intent.attempt)
    throw error
  })
  if (!intended) return refuseRetryLater('payment_in_flight', deps.statusUrl(claim.id), 1)

  return settleAndFinish(deps, purchase, { claim, prepared, attempt: intent.attempt })
}

/** From here on money may move: whatever goes wrong, the answer is never 402 and never loses the payment. */
export async function settleAndFinish(deps: GateDeps, purchase: Purchase, attempt: Attempt): Promise<GateOutcome> {
  const { claim } = attempt
  const { call } = purchase
  const gone = () => deps.deliveries.clientGone(claim.id)
  call.clientGone.addEventListener('abort', gone, { once: true })
  if (call.clientGone.aborted) gone()
  let outcome: GateOutcome
  try {
    if (claim.amountMicro === 0n) return await serveFree(deps, purchase, attempt)
    const charge = { ...claim, sold: deps.challenges.sold(call) }
    const { network, scheme } = claim
    const result = await traced(deps.metrics, 'settle', { network, scheme }, async (set) => {
      const settled = await settlePayment({ ...deps, deadlineMs: deps.limits.settleMs }, { ...purchase, claim: charge })
      set({ outcome: settled.status })
      return settled
    })
    deps.metrics.count('payments_settlements', { outcome: result.status, network: claim.network })
    outcome = await afterSettlement(deps, purchase, attempt, result)
  } catch (error) {
    deps.log.error({ paymentId: claim.id, error: String(error) }, 'a payment was interrupted; recovery ends it')
    // Recovery resolves what is `unknown` at once; without this write it waits for the lease to expire.
    void deps.deferred.markUnknown(claim.id, 'interrupted', attempt.attempt)
    outcome = refuseRetryLater('settlement_unknown', deps.statusUrl(claim.id), 5)
  }
  // A served answer is watched by the HTTP app until its last byte. Any other leaves nobody waiting: a fresh
  // payment for the same request is then a retry of this purchase and not a second one.
  if (outcome.kind === 'served') return outcome
  call.clientGone.removeEventListener('abort', gone)
  if (outcome.kind === 'refused' && outcome.problem.status === 503) gone()
  return outcome
}

async function prepareAnswer(
  deps: GateDeps,
  { call, scheme }: Purchase,
  claim: Claim,
): Promise<(PreparedAnswer & { chargeMicro: Micro }) | Problem> {
  try {
    const prepared = await traced(deps.metrics, 'prepare', { route: claim.routeId }, () =>
      call.prepare(claim.payer, claim.id),
    )
    return { ...prepared, chargeMicro: chargeOf(scheme, claim.quotedMicro, prepared.chargeMicro) }
  } catch (error) {
    if (!(error instanceof Problem))
      deps.log.error({ paymentId: claim.id, route: claim.routeId, error: String(error) }, 'prepare failed')
    return asProblem(error)
  }
}

/** What is taken: what the answer costs, where the scheme can take less than the buyer agreed to. */
export function chargeOf(scheme: Pick<Scheme, 'chargesLess'>, quotedMicro: Micro, wantedMicro = quotedMicro): Micro {
  if (wantedMicro < 0n || wantedMicro > quotedMicro)
    throw new Error(`a charge of ${wantedMicro} does not fit a quote of ${quotedMicro}`)
  return scheme.chargesLess ? wantedMicro : quotedMicro
}

type Stop = { reason: string; outcome: GateOutcome }

/** Last check before money may move: is there still a buyer, still time, still room under the cap? */
export async function reasonNotToSettle(deps: GateDeps, purchase: Purchase, claim: Claim): Promise<Stop | undefined> {
  const { call, scheme, chain } = purchase
  if (call.clientGone.aborted)
    return { reason: 'client_gone', outcome: refuse('payment_in_flight', { retryAfterSeconds: 1 }) }
  const again = await scheme.checkAgain(purchase, chain, nowSeconds(deps.clock))
  if (again.status === 'could_not_check')
    return {
      reason: 'signature_unchecked',
      outcome: refuse('settlement_unavailable', { detail: again.reason, retryAfterSeconds: 3 }),
    }
  if (again.status === 'invalid') {
    const { reason, detail, code = 'payment_invalid', released } = again
    const { payer, network } = claim
    return { reason: released, outcome: refuse402(deps, call, { code, reason, detail, payer, network }) }
  }
  if (!(await deps.exposure.admit(claim)))
    return { reason: 'exposure_limit', outcome: refuse('exposure_limit', { retryAfterSeconds: 30 }) }
  return undefined
}
