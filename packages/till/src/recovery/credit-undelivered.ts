import type { ReversalHook } from '../contract/paid-call.ts'
import { type PaymentRecord, paymentColumns, toPaymentRecord } from '../contract/payment-record.ts'
import { creditLines } from '../credit/credit-balance.ts'
import { saleOf } from '../gate/finish-sale.ts'
import { reversalLines } from '../gate/reversal-lines.ts'
import { postingReference } from '../gate/sale-postings.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { accounts, addPayToPart, post } from '../ledger/index.ts'
import type { Database, Tx } from '../store/database.ts'
import { undeliveredAnswerHours } from '../transitions/decide-claim.ts'
import { decideUndelivered } from '../transitions/decide-recovery.ts'
import { sqlList } from '../transitions/payment-state.ts'
import { moves } from '../transitions/state-changes.ts'

export type UndeliveredDeps = {
  database: Database
  clock: Clock
  log: Log
  metrics: Metrics
  reversalHooks: readonly ReversalHook[]
}

const perRunMax = 200

/**
 * An answer that nobody fetched within its shelf life is no longer what was bought: the price becomes the payer's credit.
 * Where the sale had an effect, a stamp or a subscription, that effect is what was bought, and it stays.
 */
export async function creditUndelivered(deps: UndeliveredDeps): Promise<void> {
  const { rows } = await deps.database.query<Record<string, unknown> & { restored: boolean; had_effect: boolean }>({
    name: 'read_undelivered',
    text: `select ${paymentColumns}, had_effect, exists (select from restore_gap g
       where g.network = payment.network and g.detected_at > payment.claimed_at) as restored from payment
     where open_to_payer and delivered_at is null and state in ${sqlList(moves.creditUndelivered.from)} and final and not revocable and settled_at < $1
     order by settled_at limit ${perRunMax}`,
    values: [new Date(deps.clock.nowMs() - undeliveredAnswerHours * 3_600_000)],
  })
  for (const { restored, had_effect: hadEffect, ...row } of rows) {
    const payment = toPaymentRecord(row)
    try {
      // What cost nothing has nothing to give back.
      const hasEffect = hadEffect || payment.amountMicro === 0n
      if (decideUndelivered({ hasEffect, mayBeLost: restored }) === 'credit')
        await deps.database.transaction((tx) => creditOne(deps, tx, payment))
      else await recordDelivered(deps, payment)
    } catch (error) {
      deps.log.error({ paymentId: payment.id, error: String(error) }, 'an undelivered answer could not be credited yet')
    }
  }
}

async function creditOne(deps: UndeliveredDeps, tx: Tx, payment: PaymentRecord): Promise<void> {
  const { rowCount } = await tx.query(
    `update payment set state = '${moves.creditUndelivered.to}', reason = 'undelivered'
     where id = $1 and state in ${sqlList(moves.creditUndelivered.from)} and delivered_at is null`,
    [payment.id],
  )
  if (rowCount === 0) return
  const { network, payer, amountMicro } = payment
  const lines = [
    ...(await reversalLines(tx, payment, amountMicro)),
    ...(await creditLines(tx, network, payer, amountMicro)),
  ]
  await post(tx, [
    { reference: postingReference('undelivered', payment), kind: 'undelivered', paymentId: payment.id, lines },
  ])
  if (payment.payee === 'pay_to') await addPayToPart(tx, accounts.credit(network, payer), lines)
  const sale = saleOf(payment, {
    reservation: null,
    provisional: false,
    transaction: payment.transaction ?? '',
    settledAtMs: payment.settledAt?.getTime() ?? deps.clock.nowMs(),
    feeMicro: 0n,
  })
  for (const hook of deps.reversalHooks) await hook(tx, sale, { reason: 'refund', micro: amountMicro })
  deps.metrics.count('payments_recovered', { outcome: 'undelivered' })
}

/** Nothing is waiting for it any more, so it is not checked again. */
async function recordDelivered(deps: UndeliveredDeps, payment: PaymentRecord): Promise<void> {
  await deps.database.query(`update payment set delivered_at = $2 where id = $1 and delivered_at is null`, [
    payment.id,
    new Date(deps.clock.nowMs()),
  ])
}
