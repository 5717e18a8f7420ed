import type { Address } from '../kernel/address.ts'
import type { Sql } from '../store/database.ts'
import { type Payout, type PayoutState, payoutColumns, toPayout } from './payout-record.ts'

export type PayoutView = {
  id: string
  network: string
  amount_micro: string
  state: PayoutState
  transaction: string | null
  created_at: string
  paid_at: string | null
}

/** Of one payee, newest first. */
export async function payoutsOf(sql: Sql, payee: Address, purpose: string, limit: number): Promise<PayoutView[]> {
  const { rows } = await sql.query<{
    id: string
    network: string
    amount_micro: bigint
    state: PayoutState
    transaction: string | null
    created_at: Date
    ended_at: Date | null
  }>(
    `select id, network, amount_micro, state, transaction, created_at, ended_at from payout
     where payee = $1 and purpose = $2 order by created_at desc, id desc limit $3`,
    [payee, purpose, limit],
  )
  return rows.map((row) => ({
    id: row.id,
    network: row.network,
    amount_micro: row.amount_micro.toString(),
    state: row.state,
    transaction: row.transaction,
    created_at: row.created_at.toISOString(),
    paid_at: row.state === 'paid' && row.ended_at ? row.ended_at.toISOString() : null,
  }))
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
