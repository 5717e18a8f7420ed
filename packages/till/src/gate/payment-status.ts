import type { PaymentRecord } from '../contract/payment-record.ts'
import { toRfc3339 } from '../kernel/clock.ts'
import { transfersOfKey } from '../ledger/index.ts'
import type { Sql } from '../store/database.ts'
import { paidOtherwise } from '../transitions/other-use.ts'
import { answeredBefore } from '../transitions/state-changes.ts'
import { findPayment } from './store-advance.ts'

/** The status of a payment, never what it bought: the id alone is enough to read it. */
export type PaymentStatus = {
  id: string
  state: PaymentRecord['state']
  /** What the payer should do, in one word. */
  next: 'wait' | 'resend' | 'pay_again' | 'done'
  /** CAIP-2; for a dollar other than USDC, its CAIP-19 id. */
  network: string
  amount_micro: string
  transaction: string | null
  final: boolean
  provisional: boolean
  claimed_at: string
  settled_at: string | null
  /** What arrived with this key and did not pay it: credited by its own amount. */
  other_transfers: { transaction: string; amount_micro: string; posted_as: string | null }[]
  /** What the payer said about the answer, once it did. */
  dispute: PaymentDisputeStatus | null
}

export type PaymentDisputeStatus = {
  id: string
  state: 'open' | 'accepted' | 'rejected'
  refund_micro: string | null
  decision: string | null
  decided_at: string | null
}

function nextFor({ state, deliveredAt, reason }: PaymentRecord): PaymentStatus['next'] {
  if (state === 'served' && deliveredAt) return 'done'
  return state === 'failed' && (reason === paidOtherwise || reason === answeredBefore) ? 'done' : nextOf[state]
}

const nextOf: Record<PaymentRecord['state'], PaymentStatus['next']> = {
  claimed: 'wait',
  settling: 'wait',
  unknown: 'wait',
  settled: 'wait',
  served: 'resend',
  failed: 'pay_again',
  released: 'resend',
  credited: 'done',
  refunded: 'done',
}

export async function readPaymentStatus(sql: Sql, id: string): Promise<PaymentStatus | undefined> {
  const payment = await findPayment(sql, id)
  if (!payment) return undefined
  return {
    id: payment.id,
    state: payment.state,
    next: nextFor(payment),
    network: payment.network,
    amount_micro: payment.amountMicro.toString(),
    transaction: payment.transaction,
    final: payment.final,
    provisional: payment.provisional,
    claimed_at: toRfc3339(payment.claimedAt.getTime()),
    settled_at: payment.settledAt ? toRfc3339(payment.settledAt.getTime()) : null,
    other_transfers: await otherTransfers(sql, payment),
    dispute: await disputeOf(sql, payment.id),
  }
}

async function otherTransfers(sql: Sql, payment: PaymentRecord): Promise<PaymentStatus['other_transfers']> {
  // Most payments are served by their own transfer, and then there is no other.
  if (payment.state !== 'failed' && payment.state !== 'released') return []
  const { network, payer, paymentKey, payTo } = payment
  const rows = await transfersOfKey(sql, { network, sender: payer, paymentKey })
  return rows
    .filter(({ recipient }) => recipient === payTo)
    .map(({ transaction, amountMicro, postedAs }) => ({
      transaction,
      amount_micro: amountMicro.toString(),
      posted_as: postedAs,
    }))
}

async function disputeOf(sql: Sql, paymentId: string): Promise<PaymentDisputeStatus | null> {
  const { rows } = await sql.query<Omit<PaymentDisputeStatus, 'decided_at'> & { decided_at: Date | null }>(
    `select id, state, refund_micro::text as refund_micro, decision, decided_at from payment_dispute where payment_id = $1`,
    [paymentId],
  )
  const [row] = rows
  return row ? { ...row, decided_at: row.decided_at ? toRfc3339(row.decided_at.getTime()) : null } : null
}
