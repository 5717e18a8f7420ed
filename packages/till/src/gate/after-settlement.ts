import type { ChainPort } from '../chain/index.ts'
import type { GateOutcome, PreparedAnswer } from '../contract/paid-call.ts'
import { post } from '../ledger/index.ts'
import { refusedPrefix } from './chain-verdict.ts'
import { creditPayment } from './credit-payment.ts'
import { giveStoredAnswer, releasedAnswer, withStatusLink } from './earlier-payment.ts'
import type { GateDeps } from './gate-deps.ts'
import { isFinal } from './is-final.ts'
import { judgeOtherUse, paidOtherwise } from './other-use.ts'
import type { Purchase } from './purchase.ts'
import { refuse, refuse402, refuseForLater } from './refuse.ts'
import { gasPosting } from './sale-postings.ts'
import type { OtherUse, SettlementResult } from './settle-payment.ts'
import { endPayment, findPayment } from './store-advance.ts'
import type { Claim } from './store-claim.ts'

type Settled = Extract<SettlementResult, { status: 'settled' }>

/** A claim whose intent is stored: money may move for it. */
export type Attempt = { claim: Claim; prepared: PreparedAnswer; attempt: number }

/** Turns what is certain about a settlement into the state of the payment and the answer of the request. */
export async function afterSettlement(
  deps: GateDeps,
  purchase: Purchase,
  attempted: Attempt,
  result: SettlementResult,
): Promise<GateOutcome> {
  const { claim, attempt } = attempted
  const statusUrl = deps.statusUrl(claim.id)
  switch (result.status) {
    case 'settled':
      return serve(deps, purchase, attempted, result)
    case 'failed':
      return fail(deps, purchase, attempted, result)
    case 'not_sent':
      await deps.deferred.release(claim.id, result.reason, attempt)
      return refuse('settlement_unavailable', { detail: 'The payment could not be sent.', retryAfterSeconds: 5 })
    case 'spent_before':
      await creditPayment(deps, claim, result.evidence)
      return refuse('payment_credited', { extra: { status_url: statusUrl } })
    case 'used_otherwise':
      return usedOtherwise(deps, purchase, attempted, result.use)
    case 'refused':
      await deps.deferred.markUnknown(claim.id, `${refusedPrefix}${result.reason}`, attempt)
      await recordLoss(deps, claim, result.gasGwei)
      return refuseForLater(
        'settlement_unknown',
        statusUrl,
        10,
        `The payment was refused (${result.reason}) and can still be carried until it expires.`,
      )
    case 'payer_refused':
      await deps.deferred.markUnknown(claim.id, `${refusedPrefix}${result.reason}`, attempt)
      return refuse('payer_refused', { extra: { reason: result.reason, status_url: statusUrl } })
    case 'contradicted':
      deps.log.error({ paymentId: claim.id, detail: result.detail }, 'a reported settlement contradicts the chain')
      deps.metrics.count('alarms', { alarm: 'settlement_contradicted' })
      deps.facilitator.contradicted?.()
      await deps.deferred.markUnknown(claim.id, result.detail, attempt)
      return refuseForLater('settlement_unknown', statusUrl, 30)
    case 'unknown':
      await deps.deferred.markUnknown(claim.id, result.reason, attempt, result.transaction)
      return refuseForLater('settlement_unknown', statusUrl, 5)
  }
}

async function fail(
  deps: GateDeps,
  { call }: Purchase,
  { claim, attempt }: Attempt,
  result: Extract<SettlementResult, { status: 'failed' }>,
): Promise<GateOutcome> {
  const ended = await endPayment(
    deps.database,
    { id: claim.id, from: ['settling'], to: 'failed', reason: result.reason, owner: deps.owner.id, attempt },
    deps.clock.nowMs(),
  )
  // Recovery took it over meanwhile: what became of it is for the chain to tell, and no longer for this refusal.
  if (!ended) return giveFinished(deps, call, claim)
  await recordLoss(deps, claim, result.gasGwei)
  return refuse402(deps, call, {
    code: 'payment_failed',
    reason: result.reason,
    detail: result.message ?? 'The payment did not settle; no money moved.',
    payer: claim.payer,
    network: claim.network,
  })
}

/** The key was signed more than once, or cancelled. Certain in a final block, unknown before it. */
async function usedOtherwise(
  deps: GateDeps,
  { call, scheme, chain }: Purchase,
  { claim, attempt }: Attempt,
  use: OtherUse,
): Promise<GateOutcome> {
  const statusUrl = deps.statusUrl(claim.id)
  const { reason, detail } = judgeOtherUse(scheme, deps.isOurs, claim.network, use)
  const certain = await isFinal(chain, use).catch(() => false)
  await recordLoss(deps, claim, 0n)
  if (!certain) {
    await deps.deferred.markUnknown(claim.id, reason, attempt)
    return refuseForLater('settlement_unknown', statusUrl, 10, scheme.words.usedOtherwise)
  }
  const ended = await endPayment(
    deps.database,
    { id: claim.id, from: ['settling'], to: 'failed', reason, owner: deps.owner.id, attempt, final: true },
    deps.clock.nowMs(),
  )
  if (!ended) return giveFinished(deps, call, claim)
  if (reason === paidOtherwise) return refuse('payment_credited', { extra: { status_url: statusUrl } })
  return refuse402(deps, call, {
    code: 'payment_failed',
    reason,
    detail,
    payer: claim.payer,
    network: claim.network,
  })
}

async function recordLoss(deps: GateDeps, claim: Claim, gasGwei: bigint): Promise<void> {
  await deps.losses.record(claim.payer, claim.network, claim.routeId, gasGwei)
  await postLostGas(deps, claim, gasGwei)
}

/** A settlement that failed on chain still burnt gas; the books show for whom. */
async function postLostGas(deps: GateDeps, claim: Claim, gasGwei: bigint): Promise<void> {
  if (gasGwei === 0n) return
  await deps.database.transaction((tx) => post(tx, [gasPosting(claim.network, `gas:${claim.id}`, claim.id, gasGwei)]))
}

async function serve(
  deps: GateDeps,
  { call, chain }: Purchase,
  { claim, prepared }: Attempt,
  result: Settled,
): Promise<GateOutcome> {
  const large = claim.amountMicro > deps.limits.inclusionMicroMax
  const isFinal = large && (await finalNumber(chain)) >= result.evidence.blockNumber
  const finished = await deps.finishSales.finish({
    claim,
    evidence: result.evidence,
    feeMicro: result.feeMicro,
    gasGwei: result.gasGwei,
    reservation: prepared.reservation ?? null,
    // Above the limit, what cannot be taken back waits for finality instead of being served now.
    hold: large && !isFinal && !claim.revocable,
    provisional: large && !isFinal && claim.revocable,
    commit: call.route.commit,
    commitMany: call.route.commitMany,
  })
  if (finished.status === 'held')
    return refuseForLater(
      'settlement_unknown',
      deps.statusUrl(claim.id),
      10,
      'Paid; the answer is released once the payment is final.',
    )
  if (finished.status === 'credited') return refuseForLater('refund_due', deps.statusUrl(claim.id), 60)
  if (finished.status === 'booked_otherwise')
    return refuse('payment_credited', { extra: { status_url: deps.statusUrl(claim.id) } })
  if (finished.status === 'already') return giveFinished(deps, call, claim)
  deps.metrics.count('payments_served', { route: claim.routeId, network: claim.network })
  return {
    kind: 'served',
    paymentId: claim.id,
    answer: withStatusLink(
      deps,
      claim.id,
      await releasedAnswer(call, finished.answer ?? prepared.answer, finished.paymentResponse),
    ),
    paymentResponse: finished.paymentResponse,
    delivered: () => deps.deliveries.delivered(claim.id),
  }
}

/** Finality that cannot be read is finality not reached. */
async function finalNumber(chain: ChainPort): Promise<bigint> {
  return chain.finalizedBlock().then(
    (block) => block.number,
    () => -1n,
  )
}

/** Recovery finished it while this request was still waiting for its own settlement. */
async function giveFinished(deps: GateDeps, call: Purchase['call'], claim: Claim): Promise<GateOutcome> {
  const payment = await findPayment(deps.database, claim.id)
  if (payment?.state === 'served') return giveStoredAnswer(deps, call, payment)
  return refuseForLater('settlement_unknown', deps.statusUrl(claim.id), 5)
}
