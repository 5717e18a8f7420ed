import { toRfc3339 } from '../kernel/clock.ts'
import type { Sql } from '../store/database.ts'
import type { PaymentRecord } from './payment-record.ts'
import { findPayment } from './store-advance.ts'

/** What anyone who knows the id may see: where a payment stands, never what it bought. */
export type PaymentStatus = {
  id: string
  state: PaymentRecord['state']
  /** What the payer should do, in one word. */
  next: 'wait' | 'resend' | 'pay_again' | 'done'
  network: string
  amount_micro: string
  transaction: string | null
  final: boolean
  provisional: boolean
  claimed_at: string
  settled_at: string | null
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
    next: payment.state === 'served' && payment.deliveredAt ? 'done' : nextOf[payment.state],
    network: payment.network,
    amount_micro: payment.amountMicro.toString(),
    transaction: payment.transaction,
    final: payment.final,
    provisional: payment.provisional,
    claimed_at: toRfc3339(payment.claimedAt.getTime()),
    settled_at: payment.settledAt ? toRfc3339(payment.settledAt.getTime()) : null,
  }
}
