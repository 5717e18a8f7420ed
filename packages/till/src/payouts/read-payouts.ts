import type { Address } from '@assay/protocol/address'
import type { Sql } from '../store/database.ts'
import { type Payout, type PayoutState, payoutColumns, toPayout } from './payout-record.ts'

export type PayoutView = {
  id: string
  network: string
  amount_micro: string
  state: PayoutState
  /** What it waits for, if it waits for anything but the chain. */
  waits_for: 'approval' | 'daily_limit' | 'operator_funds' | null
  transaction: string | null
  created_at: string
  paid_at: string | null
}

/** Payouts of one payee, newest first. */
export async function payoutsOf(
  sql: Sql,
  payee: Address,
  purposes: readonly string[],
  limit: number,
): Promise<PayoutView[]> {
  const { rows } = await sql.query<{
    id: string
    network: string
    amount_micro: bigint
    state: PayoutState
    reason: string | null
    transaction: string | null
    created_at: Date
    ended_at: Date | null
  }>(
    `select id, network, amount_micro, state, reason, transaction, created_at, ended_at from payout
     where payee = $1 and purpose = any($2::text[]) order by created_at desc, id desc limit $3`,
    [payee, purposes, limit],
  )
  return rows.map((row) => ({
    id: row.id,
    network: row.network,
    amount_micro: row.amount_micro.toString(),
    state: row.state,
    waits_for: waitsFor(row),
    transaction: row.transaction,
    created_at: row.created_at.toISOString(),
    paid_at: row.state === 'paid' && row.ended_at ? row.ended_at.toISOString() : null,
  }))
}

function waitsFor({ state, reason }: { state: PayoutState; reason: string | null }): PayoutView['waits_for'] {
  if (state === 'waiting') return 'approval'
  if (state !== 'queued') return null
  return reason === 'unfunded' ? 'operator_funds' : reason === 'daily_limit' ? 'daily_limit' : null
}

/** What queued payouts need and the custody wallets do not hold, by network: the most an operator has to move there. */
export async function unfundedPayouts(sql: Sql): Promise<{ network: string; payouts: number; micro: bigint }[]> {
  const { rows } = await sql.query<{ network: string; payouts: number; micro: bigint }>(
    `select network, count(*)::integer as payouts, sum(amount_micro)::bigint as micro from payout
     where state = 'queued' and reason = 'unfunded' group by network order by network`,
  )
  return rows
}

export async function listPayouts(
  sql: Sql,
  options: { state?: PayoutState; payee?: Address; limit: number },
): Promise<Payout[]> {
  const { rows } = await sql.query(
    `select ${payoutColumns} from payout where ($1::text is null or state = $1) and ($2::text is null or payee = $2)
     order by created_at desc, id desc limit $3`,
    [options.state ?? null, options.payee ?? null, options.limit],
  )
  return rows.map(toPayout)
}
