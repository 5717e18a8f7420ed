import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { PaidRoute, ReversalHook, Sale } from '../contract/paid-call.ts'
import { type PaymentRecord, paymentColumns, toPaymentRecord } from '../contract/payment-record.ts'
import { saleOf } from '../gate/finish-sale.ts'
import { reversalLines } from '../gate/reversal-lines.ts'
import { readAnswer } from '../gate/store-advance.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { accounts, type LedgerLine, lockBalances, owedTo, takePayToPart } from '../ledger/index.ts'
import { createPayout, refundAccount } from '../payouts/index.ts'
import { writeAudit } from '../store/audit-log.ts'
import type { Database, Tx } from '../store/database.ts'
import { NotRefundable } from './not-refundable.ts'
import { lockDraw, refundCredit } from './refund-draw.ts'

export type RefundRequest = { paymentId: string; amountMicro?: Micro; reason: string; by: string }

export type RefundRequestOutcome =
  | { status: 'asked'; amountMicro: Micro }
  | { status: 'refused'; why: 'no_such_payment' | 'not_paid' | 'more_than_paid' | 'refunded_before' }

/** Puts a refund down, once per payment or draw of credit; a running node carries it out. */
export const requestRefund = (database: Database, request: RefundRequest): Promise<RefundRequestOutcome> =>
  database.transaction((tx) => requestRefundIn(tx, request))

/** The same in the transaction of what decides on it. */
export async function requestRefundIn(tx: Tx, request: RefundRequest): Promise<RefundRequestOutcome> {
  const payment = (await lockPayment(tx, request.paymentId)) ?? (await lockDraw(tx, request.paymentId))
  if (!payment) return { status: 'refused', why: 'no_such_payment' }
  if ('state' in payment && payment.state === 'refunded') return { status: 'refused', why: 'refunded_before' }
  const isPaid = 'state' in payment ? payment.state === 'served' || payment.state === 'credited' : payment.isRefundable
  if (!isPaid || payment.amountMicro === 0n) return { status: 'refused', why: 'not_paid' }
  const amountMicro = request.amountMicro ?? payment.amountMicro
  if (amountMicro <= 0n || amountMicro > payment.amountMicro) return { status: 'refused', why: 'more_than_paid' }
  const { rowCount } = await tx.query(
    `insert into refund (payment_id, amount_micro, reason, requested_by) values ($1, $2, $3, $4) on conflict do nothing`,
    [payment.id, amountMicro, request.reason, request.by],
  )
  if (rowCount === 0) return { status: 'refused', why: 'refunded_before' }
  await writeAudit(tx, {
    actor: request.by,
    action: 'refund.ask',
    subject: payment.id,
    details: { amount_micro: amountMicro.toString(), reason: request.reason },
  })
  return { status: 'asked', amountMicro }
}

export type RefundDeps = {
  database: Database
  clock: Clock
  ids: Ids
  log: Log
  metrics: Metrics
  routeOf(routeId: string): PaidRoute | undefined
  /** See RecoverDeps. */
  routePatienceMs?: number
  reversalHooks: readonly ReversalHook[]
  /** True for an asset that custody cannot send: one without EIP-3009. */
  isUnpayable?(network: string): boolean
}

type Asked = {
  payment_id: string
  amount_micro: Micro
  requested_by: string
  requested_at: Date
  /** Of a draw nobody knows. */
  had_effect: boolean
}

/**
 * Turns refunds that were asked for into payouts, or, of what was paid from credit, into credit. One whose payment is not
 * final waits, and so does all after a restore.
 */
export async function executeRefunds(deps: RefundDeps): Promise<void> {
  const { rows } = await deps.database.query<Asked & { draw: boolean }>({
    name: 'read_refunds_asked',
    text: `select r.payment_id, r.amount_micro, r.requested_by, r.requested_at, coalesce(p.had_effect, true) as had_effect,
       p.id is null as draw from refund r
     left join payment p on p.id = r.payment_id
     left join entitled_call e on p.id is null and e.id = r.payment_id and e.port = 'credit'
     where r.state = 'asked' and coalesce(p.final, e.state = 'captured')
       and not exists (select from restore_gap g where g.network = coalesce(p.network, e.subject) and g.reconciled_at is null)
     order by r.requested_at limit 100`,
  })
  for (const { draw, ...asked } of rows)
    try {
      await deps.database.transaction((tx) => (draw ? executeDrawRefund(deps, tx, asked) : execute(deps, tx, asked)))
    } catch (error) {
      if (error instanceof NotRefundable) await refuse(deps, asked, error.message)
      else
        deps.log.error({ paymentId: asked.payment_id, error: String(error) }, 'a refund could not be carried out yet')
    }
}

const refuse = (deps: RefundDeps, asked: Asked, outcome: string): Promise<void> =>
  deps.database.transaction(async (tx) => {
    if (await isStillAsked(tx, asked)) await decide(deps, tx, asked, { state: 'refused', outcome })
  })

async function isStillAsked(tx: Tx, { payment_id }: Asked): Promise<boolean> {
  const { rowCount } = await tx.query(`select from refund where payment_id = $1 and state = 'asked' for update`, [
    ...[payment_id],
  ])
  return rowCount > 0
}

async function executeDrawRefund(deps: RefundDeps, tx: Tx, asked: Asked): Promise<void> {
  const draw = await lockDraw(tx, asked.payment_id)
  if (!draw || !(await isStillAsked(tx, asked)) || isLeftToOthers(deps, asked, draw)) return
  const sale = await refundCredit(tx, draw, asked.amount_micro)
  await undo(deps, tx, sale, asked.amount_micro)
  await decide(deps, tx, asked, { state: 'credited' })
}

async function execute(deps: RefundDeps, tx: Tx, asked: Asked): Promise<void> {
  const payment = await lockPayment(tx, asked.payment_id)
  if (!payment || !(await isStillAsked(tx, asked))) return
  // A reorg took it for good after the refund was asked for: nobody holds anything that could be given back.
  if (payment.state === 'failed' || payment.state === 'released') {
    await decide(deps, tx, asked, { state: 'refused', outcome: 'the payment is no longer valid' })
    return
  }
  if (deps.isUnpayable?.(payment.network)) {
    await decide(deps, tx, asked, { state: 'refused', outcome: 'this token has no EIP-3009; pay it back by hand' })
    return
  }
  if (payment.state === 'served' && isLeftToOthers(deps, asked, payment)) return
  const lines = await debtorsOf(tx, payment, asked.amount_micro)
  if (!lines) {
    await decide(deps, tx, asked, { state: 'refused', outcome: 'the credit was used meanwhile' })
    return
  }
  const payout = await createPayout(tx, {
    id: deps.ids.next('po'),
    network: payment.network,
    payee: payment.payer,
    amountMicro: asked.amount_micro,
    purpose: 'refund',
    account: refundAccount(payment),
    subject: payment.id,
    from: lines,
    approved: true,
    approvedBy: asked.requested_by,
    nowMs: deps.clock.nowMs(),
  })
  if (payout.status === 'open') throw new Error(`${payout.id} refunds the same payment`)
  if (payment.state === 'served') await undoSale(deps, tx, payment, asked.amount_micro)
  if (asked.amount_micro === payment.amountMicro)
    await tx.query(`update payment set state = 'refunded', reason = 'refunded' where id = $1`, [payment.id])
  await decide(deps, tx, asked, { state: 'paying', payoutId: payout.id })
}

/**
 * A process that does not know the route cannot revoke what was bought: one that does has some time to refund it.
 * After that the buyer waits no longer.
 */
function isLeftToOthers(deps: RefundDeps, asked: Asked, sold: { routeId: string; amountMicro: Micro }): boolean {
  const isRevoked = asked.had_effect && asked.amount_micro === sold.amountMicro
  if (!isRevoked || deps.routeOf(sold.routeId)) return false
  if (deps.clock.nowMs() - asked.requested_at.getTime() < (deps.routePatienceMs ?? 0)) return true
  deps.metrics.count('alarms', { alarm: 'effect_not_revoked' })
  deps.log.error(
    { paymentId: asked.payment_id, route: sold.routeId },
    'a refund keeps what was bought: no process knows its route',
  )
  return false
}

/** Everyone's share in proportion; for a payment that is credit, that credit: what was used is not paid out again. */
async function debtorsOf(tx: Tx, payment: PaymentRecord, micro: Micro): Promise<LedgerLine[] | undefined> {
  const isCredit = payment.state === 'credited' || payment.addsCredit
  if (!isCredit) return reversalLines(tx, payment, micro)
  const credit = accounts.credit(payment.network, payment.payer as Address)
  await lockBalances(tx, [credit])
  if ((await owedTo(tx, credit)) < micro) return undefined
  if (payment.payee === 'pay_to') await takePayToPart(tx, credit, micro)
  return [{ account: credit, amount: micro }]
}

async function undoSale(deps: RefundDeps, tx: Tx, payment: PaymentRecord, micro: Micro): Promise<void> {
  const stored = await readAnswer(tx, payment.id)
  const sale = saleOf(payment, {
    reservation: stored?.reservation ?? null,
    provisional: false,
    transaction: payment.transaction ?? '',
    settledAtMs: payment.settledAt?.getTime() ?? deps.clock.nowMs(),
    feeMicro: 0n,
  })
  await undo(deps, tx, sale, micro)
}

/** A part of the price keeps what was bought; all of it takes it back, where it can be taken. */
async function undo(deps: RefundDeps, tx: Tx, sale: Sale, micro: Micro): Promise<void> {
  if (micro === sale.amountMicro) await deps.routeOf(sale.routeId)?.revoke?.(tx, sale)
  for (const hook of deps.reversalHooks) await hook(tx, sale, { reason: 'refund', micro })
}

type Decision = { state: 'paying' | 'refused' | 'credited'; outcome?: string; payoutId?: string }

async function decide(deps: RefundDeps, tx: Tx, asked: Asked, decision: Decision): Promise<void> {
  await tx.query(`update refund set state = $2, outcome = $3, payout_id = $4, decided_at = $5 where payment_id = $1`, [
    asked.payment_id,
    decision.state,
    decision.outcome ?? null,
    decision.payoutId ?? null,
    new Date(deps.clock.nowMs()),
  ])
}

async function lockPayment(tx: Tx, id: string): Promise<PaymentRecord | undefined> {
  const { rows } = await tx.query(`select ${paymentColumns} from payment where id = $1 for update`, [id])
  return rows[0] && toPaymentRecord(rows[0])
}

export type RefundStatus = {
  state: 'asked' | 'paying' | 'refused' | 'credited'
  outcome: string | null
  amountMicro: Micro
  payout: { id: string; state: string; transaction: string | null } | null
}

export async function readRefund(database: Database, paymentId: string): Promise<RefundStatus | undefined> {
  const { rows } = await database.query<{
    state: RefundStatus['state']
    outcome: string | null
    amount_micro: Micro
    payout_id: string | null
    payout_state: string | null
    transaction: string | null
  }>(
    `select r.state, r.outcome, r.amount_micro, r.payout_id, p.state as payout_state, p.transaction
     from refund r left join payout p on p.id = r.payout_id where r.payment_id = $1`,
    [paymentId],
  )
  const row = rows[0]
  if (!row) return undefined
  const { payout_id: id, payout_state: state, transaction } = row
  return {
    state: row.state,
    outcome: row.outcome,
    amountMicro: row.amount_micro,
    payout: id === null || state === null ? null : { id, state, transaction },
  }
}
