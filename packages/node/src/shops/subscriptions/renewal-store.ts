import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { Sql, Tx } from '@assay/till/store/database'
import type { AnyTier, Product } from './policy.ts'

/** An instruction to renew from credit. */
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

/** The wallet itself asked for it, by the clock of the database: a restore that is noticed later makes it doubtful. */
export async function confirmRenewal(tx: Tx, { wallet, product }: Pick<Renewal, 'wallet' | 'product'>): Promise<void> {
  await tx.query('update subscription_renewal set confirmed_at = now() where wallet = $1 and product = $2', [
    ...[wallet, product],
  ])
}

/** An attempt that failed in an unknown way is made again later, unless another process was faster. */
export async function putOff(
  sql: Sql,
  { wallet, product, nowMs, nextAtMs }: Pick<Renewal, 'wallet' | 'product' | 'nextAtMs'> & { nowMs: number },
): Promise<void> {
  await sql.query(
    `update subscription_renewal set next_at = $4, problem = 'failed', changed_at = $3
     where wallet = $1 and product = $2 and state = 'on' and next_at <= $3`,
    [wallet, product, new Date(nowMs), new Date(nextAtMs)],
  )
}

/** `confirmed`: its wallet asked for it after every restore. */
type Due = { wallet: Address; product: Product; confirmed: boolean }

export async function dueRenewals(sql: Sql, nowMs: number): Promise<Due[]> {
  const { rows } = await sql.query<Due>(
    `select wallet, product, not exists (
       select from restore_gap g where greatest(g.detected_at, g.noticed_at) >= confirmed_at) as confirmed
     from subscription_renewal where state = 'on' and next_at <= $1 order by next_at limit 200`,
    [new Date(nowMs)],
  )
  return rows
}
