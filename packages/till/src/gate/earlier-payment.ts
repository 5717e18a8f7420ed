import type { EntitlementPort } from '../contract/entitlement.ts'
import type { AnswerContent, GateOutcome, PaidCall } from '../contract/paid-call.ts'
import type { PaymentRecord } from '../contract/payment-record.ts'
import { equalBytes } from '../kernel/bytes.ts'
import { transfersOfKey } from '../ledger/index.ts'
import { answerRepeat, hasReachedUs } from '../transitions/decide-claim.ts'
import { answeredBefore } from '../transitions/state-changes.ts'
import type { GateDeps } from './gate-deps.ts'
import type { Presented } from './purchase.ts'
import { refuse, refuse402, refuseRetryLater } from './refuse.ts'
import { readAnswer } from './store-advance.ts'

/** Marks a released payment that the same request may claim again. */
export type Reclaimable = { kind: 'reclaimable' }

/** The answer to a request whose payment or identifier is already known. */
export async function answerDuplicate(
  deps: GateDeps,
  presented: Presented,
  earlier: PaymentRecord,
): Promise<GateOutcome | Reclaimable> {
  const { call, payment } = presented
  const answer = answerRepeat({
    state: earlier.state,
    reason: earlier.reason,
    sameKey: earlier.paymentKey === payment.paymentKey && earlier.network === payment.network,
    sameRequest: earlier.fingerprint.equals(presented.fingerprint),
    knowsIdentifier: knowsIdentifier(earlier, presented),
  })
  const detail = 'It was claimed for another method, URL, body or representation.'
  const statusUrl = deps.statusUrl(earlier.id)
  switch (answer) {
    case 'other_request':
      return refuse('payment_resource_mismatch', { detail })
    case 'identifier_conflict':
      return refuse('payment_identifier_conflict', { detail })
    case 'in_flight':
      return refuseRetryLater('payment_in_flight', statusUrl, 2)
    case 'unknown':
      return refuseRetryLater('settlement_unknown', statusUrl, 5)
    case 'waits_for_finality':
      return refuseRetryLater(
        'settlement_unknown',
        statusUrl,
        5,
        'Paid; the answer is released once the payment is final.',
      )
    case 'stored_answer':
      return returnStoredAnswer(deps, call, earlier)
    case 'used':
      return earlier.reason === answeredBefore
        ? refuse('payment_used', {
            detail: 'Its request got the answer of an earlier payment, and this one is not settled.',
            extra: { status_url: statusUrl },
          })
        : refuse('payment_used', { extra: { status_url: statusUrl, ...answerUrl(deps, earlier) } })
    case 'failed':
      if (await reachedUs(deps, earlier)) return refuse('payment_credited', { extra: { status_url: statusUrl } })
      return refuse402(deps, call, {
        code: 'payment_failed',
        reason: earlier.reason ?? 'invalid_transaction_state',
        detail: 'This payment did not settle.',
        payer: earlier.payer,
        network: earlier.network,
      })
    case 'reclaim':
      return { kind: 'reclaimable' }
    case 'credited':
      return refuse('payment_credited', { extra: { status_url: statusUrl } })
    case 'refunded':
      return refuse('payment_used', { extra: { status_url: statusUrl }, detail: 'It was refunded.' })
  }
}

const answerUrl = (deps: GateDeps, { id }: PaymentRecord) => (deps.answerUrl ? { answer_url: deps.answerUrl(id) } : {})

/** Whether the key of an ended payment moved money to one of our addresses: 402 would then ask for it a second time. */
export async function reachedUs(
  deps: Pick<GateDeps, 'database' | 'isOurs'>,
  { network, payer, paymentKey, reason }: PaymentRecord,
): Promise<boolean> {
  const transfers = await transfersOfKey(deps.database, { network, sender: payer, paymentKey })
  return hasReachedUs({ reason }, transfers, (address) => deps.isOurs(network, address))
}

/** The secret identifier is the key to a stored answer: the payment alone is public once it has settled. */
function knowsIdentifier(earlier: PaymentRecord, presented: Presented): boolean {
  return (
    earlier.identifierHash !== null &&
    presented.identifierHash !== null &&
    equalBytes(earlier.identifierHash, presented.identifierHash)
  )
}

/** A fresh payment of the same payer for the same request proves the key; it is never submitted. */
export async function answerLost(deps: GateDeps, call: PaidCall, earlier: PaymentRecord): Promise<GateOutcome> {
  deps.metrics.count('payments_lost_answer', { state: earlier.state })
  if (earlier.state === 'served') return returnStoredAnswer(deps, call, earlier)
  return refuseRetryLater(
    'settlement_unknown',
    deps.statusUrl(earlier.id),
    3,
    'An earlier payment for this request is still being settled.',
  )
}

/** The request is the one that was paid for, so its route is the one that made the answer. */
export async function returnStoredAnswer(deps: GateDeps, call: PaidCall, payment: PaymentRecord): Promise<GateOutcome> {
  const stored = await readAnswer(deps.database, payment.id)
  if (!stored)
    return refuse('payment_used', {
      detail: 'Its answer is no longer kept.',
      extra: { status_url: deps.statusUrl(payment.id) },
    })
  return {
    kind: 'served',
    paymentId: payment.id,
    answer: withStatusLink(
      deps,
      payment.id,
      await releasedAnswer(
        call,
        { status: stored.status, contentType: stored.contentType, body: stored.body, headers: stored.headers },
        stored.paymentResponse ?? '',
      ),
    ),
    ...(stored.paymentResponse === null ? {} : { paymentResponse: stored.paymentResponse }),
    delivered: () => deps.deliveries.delivered(payment.id),
  }
}

export async function releasedAnswer(
  call: PaidCall,
  answer: AnswerContent,
  paymentResponse: string,
): Promise<AnswerContent> {
  const { body } = answer
  if (!call.route.release || (typeof body !== 'string' && !(body instanceof Uint8Array))) return answer
  return call.route.release({ ...answer, body }, paymentResponse)
}

/** Every paid answer says where its payment can be followed. */
export function withStatusLink(
  deps: Pick<GateDeps, 'statusUrl'>,
  paymentId: string,
  answer: AnswerContent,
): AnswerContent {
  return { ...answer, headers: { ...answer.headers, link: `<${deps.statusUrl(paymentId)}>; rel="status"` } }
}

/** The answer to a call that was paid for from credit before, whatever its price is now. */
export async function answerEarlier(
  call: PaidCall,
  ports: readonly EntitlementPort[],
): Promise<GateOutcome | undefined> {
  for (const port of ports) {
    const earlier = await port.describe(call)
    if (earlier?.status === 'refused') return { kind: 'refused', problem: earlier.problem }
    if (earlier?.status === 'served')
      return { kind: 'served', answer: await releasedAnswer(call, earlier.answer, ''), delivered: () => {} }
  }
  return undefined
}
