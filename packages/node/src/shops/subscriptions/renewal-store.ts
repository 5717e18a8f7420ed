import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { Sql, Tx } from '@assay/till/store/database'
import type { AnyTier, Product } from './policy.ts'

/** A standing order to renew from credit. */
export type Renewal = {
  wallet: Address
  product: Product
  tier: AnyTier
  mandateId: string
  priceMaxMicro: Micro
  state: 'on' | 'off' | 'ended'
  problem: string | null
  nextAtMs: number
}

type Row = {
  wallet: Address
  product: Product
  tier: AnyTier
  mandate_id: string
  price_max_micro: Micro
  state: Renewal['state']
  problem: string | null
  next_at: Date
}

const columns = 'wallet, product, tier, mandate_id, price_max_micro, state, problem, next_at'

const toRenewal = (row: Row): Renewal => ({
  wallet: row.wallet,
  product: row.product,
  tier: row.tier,
  mandateId: row.mandate_id,
  priceMaxMicro: row.price_max_micro,
  state: row.state,
  problem: row.problem,
  nextAtMs: row.next_at.getTime(),
})

export async function findRenewal(sql: Sql, wallet: Address, product: Product): Promise<Renewal | undefined> {
  const { rows } = await sql.query<Row>(
    `select ${columns} from subscription_renewal where wallet = $1 and product = $2`,
    [wallet, product],
  )
  return rows[0] && toRenewal(rows[0])
}

export async function saveRenewal(tx: Tx, renewal: Renewal, nowMs: number): Promise<void> {
  await tx.query(
    `insert into subscription_renewal (${columns}, changed_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (wallet, product) do update set tier = excluded.tier, mandate_id = excluded.mandate_id,
       price_max_micro = excluded.price_max_micro, state = excluded.state, problem = excluded.problem,
       next_at = excluded.next_at, changed_at = excluded.changed_at`,
    [
      renewal.wallet,
      renewal.product,
      renewal.tier,
      renewal.mandateId,
      renewal.priceMaxMicro,
      renewal.state,
      renewal.problem,
      new Date(renewal.nextAtMs),
      new Date(nowMs),
    ],
  )
}

export async function dueRenewals(sql: Sql, nowMs: number): Promise<{ wallet: Address; product: Product }[]> {
  const { rows } = await sql.query<{ wallet: Address; product: Product }>(
    `select wallet, product from subscription_renewal where state = 'on' and next_at <= $1 order by next_at limit 200`,
    [new Date(nowMs)],
  )
  return rows
}
