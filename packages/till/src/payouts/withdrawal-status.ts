import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { Sql } from '../store/database.ts'
import { type CustodyFacts, type FinalBalance, spareMicro } from './custody-money.ts'

export type CustodyStatus = {
  network: string
  block: bigint
  /** On chain at that block, and in the books. */
  balanceMicro: Micro
  postedMicro: Micro
  /** Money of others; debts of the operator; payouts decided or signed; money committed by shops. */
  othersMicro: Micro
  debtsMicro: Micro
  leavingMicro: Micro
  reservedMicro: Micro
  withdrawableMicro: Micro
  checkedAt: Date
}

export async function saveCustodyStatus(
  sql: Sql,
  { network, block }: FinalBalance,
  facts: CustodyFacts,
  nowMs: number,
): Promise<void> {
  const spare = spareMicro(facts)
  await sql.query(
    `insert into custody_status (network, block_number, balance_micro, posted_micro, others_micro, debts_micro, leaving_micro,
       reserved_micro, withdrawable_micro, checked_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (network) do update set block_number = excluded.block_number, balance_micro = excluded.balance_micro,
       posted_micro = excluded.posted_micro, others_micro = excluded.others_micro, debts_micro = excluded.debts_micro,
       leaving_micro = excluded.leaving_micro, reserved_micro = excluded.reserved_micro,
       withdrawable_micro = excluded.withdrawable_micro, checked_at = excluded.checked_at`,
    [
      network,
      block,
      facts.balanceMicro,
      facts.postedMicro,
      facts.othersMicro,
      facts.debtsMicro,
      facts.unpaidMicro + facts.queuedOthersMicro + facts.queuedOwnMicro,
      facts.committedMicro,
      spare > 0n ? spare : 0n,
      new Date(nowMs),
    ],
  )
}

export async function readCustodyStatus(sql: Sql): Promise<CustodyStatus[]> {
  const { rows } = await sql.query<CustodyStatus>(
    `select network, block_number as block, balance_micro as "balanceMicro", posted_micro as "postedMicro",
       others_micro as "othersMicro", debts_micro as "debtsMicro", leaving_micro as "leavingMicro",
       reserved_micro as "reservedMicro", withdrawable_micro as "withdrawableMicro", checked_at as "checkedAt"
     from custody_status order by network`,
  )
  return rows
}

export type Withdrawal = {
  id: string
  network: string
  payee: Address
  /** What was asked for; null is all. */
  askedMicro: Micro | null
  state: 'asked' | 'paying' | 'refused'
  outcome: string | null
  requestedBy: string
  requestedAt: Date
  payout: { id: string; state: string; amountMicro: Micro; transaction: string | null; reason: string | null } | null
}

type Row = Omit<Withdrawal, 'payout'> & {
  payoutId: string | null
  payoutState: string
  amountMicro: Micro
  transaction: string | null
  reason: string | null
}

/** Newest first; with an id that one alone. */
export async function listWithdrawals(sql: Sql, options: { limit: number; id?: string }): Promise<Withdrawal[]> {
  const { rows } = await sql.query<Row>(
    `select w.id, w.network, w.payee, w.amount_micro as "askedMicro", w.state, w.outcome, w.requested_by as "requestedBy",
       w.requested_at as "requestedAt", p.id as "payoutId", p.state as "payoutState", p.amount_micro as "amountMicro",
       p.transaction, p.reason
     from withdrawal w left join payout p on p.id = w.payout_id
     where $2::text is null or w.id = $2 order by w.requested_at desc, w.id desc limit $1`,
    [options.limit, options.id ?? null],
  )
  return rows.map(({ payoutId, payoutState, amountMicro, transaction, reason, ...row }) => ({
    ...row,
    payout: payoutId === null ? null : { id: payoutId, state: payoutState, amountMicro, transaction, reason },
  }))
}
