import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { findPayment } from '../gate/store-advance.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import { writeAudit } from '../store/audit-log.ts'
import type { Database, Sql } from '../store/database.ts'
import { type RefundRequestOutcome, requestRefundIn } from './refund-payment.ts'

export type DisputeState = 'open' | 'accepted' | 'rejected'
export const disputeStatesOfPayments: readonly DisputeState[] = ['open', 'accepted', 'rejected']

export type PaymentDispute = {
  id: string
  paymentId: string
  payer: Address
  text: string
  evidenceType: string | null
  evidenceBytes: number
  state: DisputeState
  openedAt: Date
  refundMicro: Micro | null
  decision: string | null
  decidedBy: string | null
  decidedAt: Date | null
}

export type Evidence = { mediaType: string; bytes: Uint8Array }

export const disputeLimits = {
  textMax: 4_000,
  evidenceBytesMax: 32_768,
  perPayerAndDay: 10,
  /** After it was paid. */
  days: 30,
} as const

export type OpenDisputeOutcome =
  | { status: 'opened'; id: string }
  | { status: 'refused'; why: 'no_such_payment' | 'not_disputable' | 'too_late' | 'disputed_before' | 'too_many' }

type OpenDeps = { database: Database; clock: Clock; ids: Ids }

/** The payer says that the answer is wrong; once per payment. Who asks has been proven by the caller. */
export async function openDispute(
  deps: OpenDeps,
  payer: { address: Address; networks: readonly string[] },
  given: { paymentId: string; text: string; evidence?: Evidence },
): Promise<OpenDisputeOutcome> {
  const now = deps.clock.nowMs()
  return deps.database.transaction(async (tx): Promise<OpenDisputeOutcome> => {
    // One at a time for a payer, or the limit would be counted by two at once.
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`dispute ${payer.address}`])
    const payment = await findPayment(tx, given.paymentId)
    // Anyone but the payer learns nothing about the payment.
    if (!payment || payment.payer !== payer.address || !payer.networks.includes(payment.network))
      return { status: 'refused', why: 'no_such_payment' }
    if (payment.state !== 'served' || payment.settledAt === null || payment.amountMicro === 0n)
      return { status: 'refused', why: 'not_disputable' }
    if (payment.settledAt.getTime() + disputeLimits.days * 86_400_000 < now)
      return { status: 'refused', why: 'too_late' }
    const { rows } = await tx.query<{ n: number }>(
      'select count(*)::integer as n from payment_dispute where payer = $1 and opened_at > $2',
      [payer.address, new Date(now - 86_400_000)],
    )
    if ((rows[0]?.n ?? 0) >= disputeLimits.perPayerAndDay) return { status: 'refused', why: 'too_many' }
    const id = deps.ids.next('dsp')
    const { rowCount } = await tx.query(
      `insert into payment_dispute (id, payment_id, payer, text, evidence, evidence_type, opened_at)
       values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
      [
        id,
        payment.id,
        payer.address,
        given.text,
        given.evidence ? Buffer.from(given.evidence.bytes) : null,
        given.evidence?.mediaType ?? null,
        new Date(now),
      ],
    )
    return rowCount === 0 ? { status: 'refused', why: 'disputed_before' } : { status: 'opened', id }
  })
}

export type DisputeDecision = {
  id: string
  /** What is given back: nothing when it is rejected. */
  refund: 'none' | 'all' | Micro
  reason: string
  by: string
}

export type DecideOutcome =
  | { status: 'decided'; state: DisputeState; refundMicro: Micro | null }
  | {
      status: 'refused'
      why: 'no_such_dispute' | 'decided_before' | Extract<RefundRequestOutcome, { why: string }>['why']
    }

/** Decided once. The refund, if any, is queued in the same transaction; a running node pays it. */
export async function decideDispute(
  { database, clock }: { database: Database; clock: Clock },
  { id, refund, reason, by }: DisputeDecision,
): Promise<DecideOutcome> {
  return database.transaction(async (tx): Promise<DecideOutcome> => {
    const { rows } = await tx.query<{ paymentId: string; state: DisputeState }>(
      'select payment_id as "paymentId", state from payment_dispute where id = $1 for update',
      [id],
    )
    const [row] = rows
    if (!row) return { status: 'refused', why: 'no_such_dispute' }
    if (row.state !== 'open') return { status: 'refused', why: 'decided_before' }
    let refundMicro: Micro | null = null
    if (refund !== 'none') {
      const amount = refund === 'all' ? {} : { amountMicro: refund }
      const request = { paymentId: row.paymentId, reason: `dispute ${id}`, by, ...amount }
      const outcome = await requestRefundIn(tx, request)
      if (outcome.status === 'refused') return outcome
      refundMicro = outcome.amountMicro
    }
    const state = refund === 'none' ? 'rejected' : 'accepted'
    await tx.query(
      `update payment_dispute set state = $2, refund_micro = $3, decision = $4, decided_by = $5, decided_at = $6 where id = $1`,
      [id, state, refundMicro, reason, by, new Date(clock.nowMs())],
    )
    await writeAudit(tx, {
      actor: by,
      action: 'dispute.decide',
      subject: id,
      details: { state, refund_micro: refundMicro?.toString() ?? '0', reason },
    })
    return { status: 'decided', state, refundMicro }
  })
}

const columns = `id, payment_id as "paymentId", payer, text, evidence_type as "evidenceType",
  coalesce(octet_length(evidence), 0) as "evidenceBytes", state, opened_at as "openedAt", refund_micro as "refundMicro", decision,
  decided_by as "decidedBy", decided_at as "decidedAt"`

/** Oldest first, for those who decide. */
export async function listPaymentDisputes(
  sql: Sql,
  options: { state?: DisputeState; limit: number },
): Promise<PaymentDispute[]> {
  const { rows } = await sql.query<PaymentDispute>(
    `select ${columns} from payment_dispute where $1::text is null or state = $1 order by opened_at, id limit $2`,
    [options.state ?? null, options.limit],
  )
  return rows
}

/** By its own id, or by that of its payment. */
export async function findPaymentDispute(sql: Sql, id: string): Promise<PaymentDispute | undefined> {
  const { rows } = await sql.query<PaymentDispute>(
    `select ${columns} from payment_dispute where id = $1 or payment_id = $1`,
    [id],
  )
  return rows[0]
}

export async function readDisputeEvidence(sql: Sql, id: string): Promise<Buffer | undefined> {
  const { rows } = await sql.query<{ evidence: Buffer | null }>('select evidence from payment_dispute where id = $1', [
    id,
  ])
  return rows[0]?.evidence ?? undefined
}
