import type { ChainPort } from '../chain/index.ts'
import type { AnswerContent, GateOutcome, PreparedAnswer } from '../contract/paid-call.ts'
import type { SchemeReasons } from '../contract/scheme.ts'
import { post } from '../ledger/index.ts'
import { decideFinish, decideSettlement } from '../transitions/decide-settlement.ts'
import { reasonOfOtherUse } from '../transitions/other-use.ts'
import type { OtherUse, SettlementResult } from '../transitions/settlement-result.ts'
import { creditPayment } from './credit-payment.ts'
import { releasedAnswer, returnStoredAnswer, withStatusLink } from './earlier-payment.ts'
import { finishFree } from './finish-free.ts'
import type { GateDeps } from './gate-deps.ts'
import { isFinal } from './is-final.ts'
import type { Purchase } from './purchase.ts'
import { refuse, refuse402, refuseRetryLater } from './refuse.ts'
import { gasPosting } from './sale-postings.ts'
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
  const { claim } = attempted
  const other = result.status === 'used_otherwise' ? await readOtherUse(deps, purchase, result.use) : undefined
  const decision = decideSettlement(result, other)
  if (decision.do === 'finish') return serve(deps, purchase, attempted, result as Settled)
  if (decision.do === 'credit') {
    await creditPayment(deps, claim, decision.evidence)
    return refuse('payment_credited', { extra: { status_url: deps.statusUrl(claim.id) } })
  }
  if (result.status === 'contradicted') {
    deps.log.error({ paymentId: claim.id, detail: result.detail }, 'a reported settlement contradicts the chain')
    deps.metrics.count('alarms', { alarm: 'settlement_contradicted' })
    deps.facilitator.contradicted?.(claim.id)
  }
  if (result.status === 'used_otherwise') await recordLoss(deps, claim, 0n)
  const ended = await end(deps, attempted, decision)
  // Recovery took it over meanwhile: the chain decides its outcome, and this refusal no longer does.
  if (!ended) return returnFinished(deps, purchase.call, claim)
  if (result.status === 'failed' || result.status === 'refused') await recordLoss(deps, claim, result.gasGwei)
  return answerOf(deps, purchase, claim, result, decision)
}

async function readOtherUse(deps: GateDeps, { scheme, chain, payment }: Purchase, use: OtherUse) {
  // Finality that cannot be read is finality not reached.
  const final = await isFinal(chain, use).catch(() => false)
  return { final, ...reasonOfOtherUse(scheme.reasons, deps.isOurs, payment.network, use) }
}

type Ended = Extract<ReturnType<typeof decideSettlement>, { do: 'end' }>

/** The end of a payment is written while the request waits; anything else may be written after the response. */
async function end(
  deps: GateDeps,
  { claim, attempt }: Attempt,
  { move, reason, transaction }: Ended,
): Promise<boolean> {
  if (move.to === 'unknown') await deps.deferred.markUnknown(claim.id, reason, attempt, transaction)
  else if (move.to === 'released') await deps.deferred.release(claim.id, reason, attempt)
  else
    return endPayment(
      deps.database,
      { id: claim.id, move, reason, worker: { owner: deps.owner.id, attempt } },
      deps.clock.nowMs(),
    )
  return true
}

function answerOf(
  deps: GateDeps,
  { call, scheme: { reasons } }: Purchase,
  claim: Claim,
  result: SettlementResult,
  ended: Ended,
): GateOutcome {
  const statusUrl = deps.statusUrl(claim.id)
  switch (ended.answer) {
    case 'pay_again':
      return refuse402(deps, call, {
        code: 'payment_failed',
        reason: ended.reason,
        detail: refusalDetail(result, ended.reason, reasons),
        payer: claim.payer,
        network: claim.network,
      })
    case 'credited':
      return refuse('payment_credited', { extra: { status_url: statusUrl } })
    case 'not_sent':
      return refuse('settlement_unavailable', { detail: 'The payment could not be sent.', retryAfterSeconds: 5 })
    case 'payer_refused':
      return refuse('payer_refused', {
        extra: { reason: result.status === 'payer_refused' ? result.reason : '', status_url: statusUrl },
      })
    case 'later':
      return laterAnswer(result, statusUrl, reasons)
  }
}

const noMoney = 'The payment did not settle; no money moved.'

function refusalDetail(result: SettlementResult, reason: string, reasons: SchemeReasons): string {
  if (result.status === 'failed') return result.message ?? noMoney
  return [reasons.canceled, reasons.paidToOthers].find((one) => one.reason === reason)?.detail ?? noMoney
}

function laterAnswer(result: SettlementResult, statusUrl: string, reasons: SchemeReasons): GateOutcome {
  const later = (seconds: number, detail?: string) =>
    refuseRetryLater('settlement_unknown', statusUrl, seconds, ...(detail === undefined ? [] : [detail]))
  if (result.status === 'refused')
    return later(10, `The payment was refused (${result.reason}) and can still be submitted until it expires.`)
  if (result.status === 'used_otherwise') return later(10, reasons.usedOtherwise)
  return later(result.status === 'contradicted' ? 30 : 5)
}

async function recordLoss(deps: GateDeps, claim: Claim, gasGwei: bigint): Promise<void> {
  await deps.losses.record(claim.payer, claim.network, claim.routeId, gasGwei)
  await postLostGas(deps, claim, gasGwei)
}

/** A settlement that failed on chain still burnt gas, which is posted as an expense of its route. */
async function postLostGas(deps: GateDeps, claim: Claim, gasGwei: bigint): Promise<void> {
  if (gasGwei === 0n) return
  await deps.database.transaction((tx) => post(tx, [gasPosting(claim, `gas:${claim.id}`, gasGwei)]))
}

async function serve(
  deps: GateDeps,
  { call, chain }: Purchase,
  { claim, prepared }: Attempt,
  result: Settled,
): Promise<GateOutcome> {
  const large = claim.amountMicro > deps.limits.inclusionMicroMax
  const final = large && (await finalNumber(chain)) >= result.evidence.blockNumber
  const finished = await deps.finishSales.finish({
    claim,
    evidence: result.evidence,
    feeMicro: result.feeMicro,
    gasGwei: result.gasGwei,
    reservation: prepared.reservation ?? null,
    // Room for it was taken before it was settled.
    ...decideFinish({
      ...{ amountMicro: claim.amountMicro, inclusionMicroMax: deps.limits.inclusionMicroMax },
      ...{ revocable: claim.revocable, final, hasRoom: true },
    }),
    commit: call.route.commit,
    commitMany: call.route.commitMany,
  })
  if (finished.status === 'held')
    return refuseRetryLater(
      'settlement_unknown',
      deps.statusUrl(claim.id),
      10,
      'Paid; the answer is released once the payment is final.',
    )
  if (finished.status === 'credited') return refuseRetryLater('refund_due', deps.statusUrl(claim.id), 60)
  if (finished.status === 'posted_otherwise')
    return refuse('payment_credited', { extra: { status_url: deps.statusUrl(claim.id) } })
  if (finished.status === 'already') return returnFinished(deps, call, claim)
  deps.metrics.count('payments_served', { route: claim.routeId, network: claim.network })
  return servedAnswer(deps, call, claim, finished.answer ?? prepared.answer, finished.paymentResponse)
}

/** Nothing is charged, so nothing is sent. */
export async function serveFree(
  deps: GateDeps,
  { call }: Purchase,
  { claim, prepared }: Attempt,
): Promise<GateOutcome> {
  const finished = await finishFree(deps, { claim, reservation: prepared.reservation ?? null }, call.route.commit)
  if (finished === 'already') return returnFinished(deps, call, claim)
  deps.metrics.count('payments_served', { route: claim.routeId, network: claim.network })
  return servedAnswer(deps, call, claim, finished.answer ?? prepared.answer, finished.paymentResponse)
}

async function servedAnswer(
  deps: GateDeps,
  call: Purchase['call'],
  { id }: Claim,
  answer: AnswerContent,
  paymentResponse: string,
): Promise<GateOutcome> {
  return {
    kind: 'served',
    paymentId: id,
    answer: withStatusLink(deps, id, await releasedAnswer(call, answer, paymentResponse)),
    paymentResponse,
    delivered: () => deps.deliveries.delivered(id),
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
async function returnFinished(deps: GateDeps, call: Purchase['call'], claim: Claim): Promise<GateOutcome> {
  const payment = await findPayment(deps.database, claim.id)
  if (payment?.state === 'served') return returnStoredAnswer(deps, call, payment)
  return refuseRetryLater('settlement_unknown', deps.statusUrl(claim.id), 5)
}
