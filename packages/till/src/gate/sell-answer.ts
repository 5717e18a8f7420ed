import { formatUsd } from '@assay/protocol/money'
import { ChainUnreadable, usdcOf } from '../chain/index.ts'
import { addsCredit } from '../contract/credit-terms.ts'
import type { GateOutcome } from '../contract/paid-call.ts'
import type { FundsOutcome } from '../contract/scheme.ts'
import { traced } from '../kernel/metrics.ts'
import { inFlightPerPayerMax, isLostAnswer, isStillActive } from '../transitions/decide-claim.ts'
import { answerSpentPayment } from './credit-payment.ts'
import { answerDuplicate, answerLost } from './earlier-payment.ts'
import type { GateDeps } from './gate-deps.ts'
import { keyOf, type Purchase } from './purchase.ts'
import { refuse, refuse402 } from './refuse.ts'
import { resumeAbandoned } from './resume-abandoned.ts'
import { findConflict, findPayment } from './store-advance.ts'
import type { Claim } from './store-claim.ts'
import { workOnClaim } from './work-on-claim.ts'

/** From a verified payment to a claim of it, or to what an earlier claim entitles to. */
export async function sellAnswer(deps: GateDeps, purchase: Purchase): Promise<GateOutcome> {
  const { payment, call } = purchase
  if (!(await deps.losses.allows(payment.payer, payment.network, call.route.id)))
    // What was paid before is given all the same.
    return (await answerKnown(deps, purchase)) ?? refuse('loss_limit', { retryAfterSeconds: 3_600 })
  if (!deps.claims.begin(payment)) {
    const known = await answerKnown(deps, purchase, true)
    if (known) return known
  }
  const claimed = await draftAndClaim(deps, purchase).catch((error: unknown) => {
    deps.claims.remove(payment)
    throw error
  })
  if ('kind' in claimed) {
    deps.claims.remove(payment)
    return claimed
  }
  return workOnClaim(deps, claimed.purchase, claimed.claim)
}

/**
 * Answers a copy of a payment that this process is working on without a read of the chain; undefined when one is
 * needed.
 */
async function answerKnown(deps: GateDeps, purchase: Purchase, beingClaimed = false): Promise<GateOutcome | undefined> {
  const earlier = await findConflict(deps.database, keyOf(purchase))
  if (!earlier) return beingClaimed ? refuse('payment_in_flight', { retryAfterSeconds: 1 }) : undefined
  // Anyone may have submitted a refused payment to the chain since: the next 402 needs a read of it.
  if (earlier.state === 'failed' && !earlier.final) return undefined
  const answer = await answerDuplicate(deps, purchase, earlier)
  return answer.kind === 'reclaimable' ? undefined : answer
}

/** `purchase` with what the chain says about the payer. */
type Claimed = { purchase: Purchase; claim: Claim }

async function draftAndClaim(deps: GateDeps, verified: Purchase): Promise<Claimed | GateOutcome> {
  const read = await readFunds(deps, verified)
  if ('kind' in read) return read
  const purchase = { ...verified, payerIsKey: read.funds.payerIsKey }
  const claim = draftClaim(deps, purchase, read)
  if (read.funds.used) return usedBefore(deps, purchase, claim)
  return claimPayment(deps, purchase, claim)
}

type Funds = { funds: Extract<FundsOutcome, { status: 'ok' }>; headBlock: bigint }

async function readFunds(deps: GateDeps, purchase: Purchase): Promise<Funds | GateOutcome> {
  const { call, scheme, payment, chain } = purchase
  try {
    const [funds, head] = await Promise.all([
      scheme.readFunds(purchase, chain),
      chain.head(),
      deps.deliveries.flushGone(),
    ])
    if (funds.status === 'ok') return { funds, headBlock: head.number }
    if (funds.status === 'could_not_check')
      return refuse('settlement_unavailable', { detail: funds.reason, retryAfterSeconds: 3 })
    const { reason, detail, code = 'payment_invalid' } = funds
    return refuse402(deps, call, { code, reason, detail, payer: payment.payer, network: payment.network })
  } catch (error) {
    if (!(error instanceof ChainUnreadable)) throw error
    return refuse('settlement_unavailable', { detail: 'The chain could not be read.', retryAfterSeconds: 3 })
  }
}

function draftClaim(deps: GateDeps, purchase: Purchase, { funds, headBlock }: Funds): Claim {
  const { call, scheme, payment, terms } = purchase
  return {
    id: deps.ids.next('pay'),
    network: terms.network.caip2,
    asset: usdcOf(terms.network),
    scheme: scheme.id,
    payer: payment.payer,
    payerIsKey: purchase.payerIsKey,
    paymentKey: payment.paymentKey,
    signedDigest: purchase.signedDigest,
    payTo: terms.payTo,
    payee: call.route.payee,
    quotedMicro: terms.amountMicro,
    amountMicro: terms.amountMicro,
    validBefore: payment.validBefore,
    routeId: call.route.id,
    resource: call.resourceUrl,
    fingerprint: purchase.fingerprint,
    identifierHash: purchase.identifierHash,
    ref: call.attribution.ref ?? null,
    aff: call.attribution.aff ?? null,
    revocable: call.route.revocable,
    addsCredit: addsCredit(call.route),
    headBlock,
    balanceMicro: funds.balanceMicro,
    ignoreUndelivered: false,
  }
}

async function claimPayment(deps: GateDeps, purchase: Purchase, claim: Claim): Promise<Claimed | GateOutcome> {
  const outcome = await traced(deps.metrics, 'claim', { network: claim.network }, () => deps.claims.claim(claim)).catch(
    (error: unknown) => releaseAndThrow(deps, claim.id, error),
  )
  deps.metrics.count('payments_claims', { outcome: outcome.status })
  switch (outcome.status) {
    case 'claimed':
      return { purchase, claim }
    case 'over_limit':
      return overLimit(deps, purchase, claim)
    case 'undelivered':
      return afterUndelivered(deps, purchase, claim, outcome.paymentId)
    case 'conflict':
      return afterConflict(deps, purchase, claim)
  }
}

function overLimit(deps: GateDeps, { call }: Purchase, claim: Claim): GateOutcome {
  // The key was read as unused and no claim of ours exists, so nothing moved for this payload.
  if (claim.balanceMicro < claim.quotedMicro)
    return refuse402(deps, call, {
      code: 'payment_invalid',
      reason: 'insufficient_funds',
      detail: `The payer holds ${formatUsd(claim.balanceMicro)} of ${formatUsd(claim.quotedMicro)} USD on ${claim.network}.`,
      hint: 'Send what is missing to the payer on this network, or pay with another wallet or network; no money moved.',
      payer: claim.payer,
      network: claim.network,
    })
  return refuse('payer_limit', {
    retryAfterSeconds: 2,
    detail: `At most ${inFlightPerPayerMax} payments of one payer are worked on at once, within its balance.`,
  })
}

async function afterUndelivered(
  deps: GateDeps,
  purchase: Purchase,
  claim: Claim,
  paymentId: string,
): Promise<Claimed | GateOutcome> {
  const earlier = await findPayment(deps.database, paymentId)
  const samePayment = earlier?.paymentKey === claim.paymentKey
  if (earlier && samePayment) return afterConflict(deps, purchase, claim)
  const isLost =
    earlier &&
    isLostAnswer(
      { ...earlier, delivered: earlier.deliveredAt !== null },
      earlier.clientGone || (await deps.owner.isAlive(earlier.owner)),
    )
  if (isLost) {
    // A copy of this payment that comes after the answer has arrived would buy it a second time.
    if (earlier.state === 'served' && !(await deps.claims.leaveUnsettled(claim)))
      return afterConflict(deps, purchase, claim)
    return answerLost(deps, purchase.call, earlier)
  }
  // Another process is serving it at this moment: this is its own purchase.
  return claimPayment(deps, purchase, { ...claim, ignoreUndelivered: true })
}

async function afterConflict(deps: GateDeps, purchase: Purchase, claim: Claim): Promise<Claimed | GateOutcome> {
  // A batch of claims that breaks off is run again in halves: what conflicts may be our own row.
  const earlier = await findConflict(deps.database, claim).catch((error: unknown) =>
    releaseAndThrow(deps, claim.id, error),
  )
  if (earlier?.id === claim.id) return { purchase, claim }
  // It ended between the claim and this read, for example a failed purchase with the same identifier.
  if (!earlier) return refuse('payment_in_flight', { retryAfterSeconds: 1 })
  const resumed = await resumeAbandoned(deps, purchase, claim, earlier)
  if (resumed) return resumed
  const answer = await answerDuplicate(deps, purchase, earlier)
  if (answer.kind !== 'reclaimable') return answer
  const again = await deps.claims.reclaim(claim).catch((error: unknown) => releaseAndThrow(deps, earlier.id, error))
  if (again.status === 'claimed') return { purchase, claim: { ...claim, id: again.paymentId } }
  if (again.status === 'over_limit') return overLimit(deps, purchase, claim)
  const followed = { extra: { status_url: deps.statusUrl(earlier.id) } }
  if (!earlier.signedDigest?.equals(claim.signedDigest)) return refuse(purchase.scheme.reasons.reused, followed)
  return refuse('payment_in_flight', { retryAfterSeconds: 1, ...followed })
}

/** The claim may have been written though its answer was lost, or may yet be; nobody works on it. */
function releaseAndThrow(deps: GateDeps, paymentId: string, error: unknown): never {
  deps.deferred.releaseInDoubt(paymentId)
  throw error
}

/** The chain says the key is spent. Either we know that payment, or the money came in before anybody claimed it. */
async function usedBefore(deps: GateDeps, purchase: Purchase, claim: Claim): Promise<GateOutcome> {
  const earlier = await findConflict(deps.database, claim)
  if (earlier && isStillActive(earlier)) {
    const answer = await answerDuplicate(deps, purchase, earlier)
    if (answer.kind !== 'reclaimable') return answer
  }
  return answerSpentPayment(deps, purchase, claim, earlier)
}
