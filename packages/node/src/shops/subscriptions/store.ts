import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { tokenInForce } from '@assay/till/signing'
import type { Sql, Tx } from '@assay/till/store/database'
import type { Purchase, Term } from './compute-term.ts'
import type { AnyTier, Product } from './policy.ts'

export type Subscription = Term & {
  wallet: Address
  product: Product
  tokenVersion: number
  /** Version of the secret that the token was made with. */
  tokenSecret: number
  /** Null without a token, also when all tokens of its secret were revoked. */
  tokenHash: Buffer | null
  /** Since when it opens nothing because its wallet paused it. */
  pausedAtMs: number | null
}

type Row = {
  wallet: Address
  product: Product
  tier: AnyTier
  from_at: Date
  until_at: Date
  extended_ms: bigint
  token_version: number
  token_secret: number
  token_hash: Buffer | null
  paused_at: Date | null
}

const columns = `wallet, product, tier, from_at, until_at, extended_ms, token_version, token_secret, paused_at,
  case when ${tokenInForce('token_secret')} then token_hash end as token_hash`

const toSubscription = (row: Row): Subscription => ({
  wallet: row.wallet,
  product: row.product,
  tier: row.tier,
  fromMs: row.from_at.getTime(),
  untilMs: row.until_at.getTime(),
  extendedMs: Number(row.extended_ms),
  tokenVersion: row.token_version,
  tokenSecret: row.token_secret,
  tokenHash: row.token_hash,
  pausedAtMs: row.paused_at?.getTime() ?? null,
})

/** One wallet's purchases are added up by one transaction at a time, also when there is no row to lock yet. */
export async function lockWallet(tx: Tx, wallet: Address): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('subscription ' || $1, 0))`, [wallet])
}

export async function findSubscription(
  sql: Sql,
  wallet: Address,
  product: Product = 'feeds',
): Promise<Subscription | undefined> {
  const { rows } = await sql.query<Row>({
    name: 'subscription_of_wallet',
    text: `select ${columns} from subscription where wallet = $1 and product = $2`,
    values: [wallet, product],
  })
  return rows[0] && toSubscription(rows[0])
}

export async function findSubscriptions(
  sql: Sql,
  wallets: readonly Address[],
  product: Product,
): Promise<Subscription[]> {
  const { rows } = await sql.query<Row>(`select ${columns} from subscription where wallet = any($1) and product = $2`, [
    wallets,
    product,
  ])
  return rows.map(toSubscription)
}

export async function findByToken(sql: Sql, hash: Buffer): Promise<Subscription | 'ended' | undefined> {
  const { rows } = await sql.query<Row>({
    name: 'subscription_of_token',
    text: `select ${columns} from subscription where token_hash = $1`,
    values: [hash],
  })
  if (rows[0]) return rows[0].token_hash === null ? 'ended' : toSubscription(rows[0])
  const old = await sql.query(`select from subscription_old_token where token_hash = $1`, [hash])
  return old.rowCount > 0 ? 'ended' : undefined
}

export type NewPurchase = Purchase & {
  paymentId: string
  round: number
  wallet: Address
  /** Feeds by default. */
  product?: Product
  network: string
}

export async function insertPurchase(tx: Tx, purchase: NewPurchase): Promise<void> {
  await tx.query(
    `insert into subscription_purchase (payment_id, round, wallet, product, tier, network, standard_micro, vip_micro, bought_at, kind, paid_ms)
     values ($1, $2, $3, $9, $4, $5, $6, $7, $8, $10, $11)`,
    [
      purchase.paymentId,
      purchase.round,
      purchase.wallet,
      purchase.tier,
      purchase.network,
      purchase.standardMicro,
      purchase.vipMicro,
      new Date(purchase.boughtAtMs),
      purchase.product ?? 'feeds',
      purchase.kind ?? 'period',
      purchase.paidMs ?? null,
    ],
  )
}

export async function revokePurchases(
  tx: Tx,
  paymentId: string,
  nowMs: number,
): Promise<{ wallet: Address; product: Product } | undefined> {
  const { rows } = await tx.query<{ wallet: Address; product: Product }>(
    `update subscription_purchase set revoked_at = $2 where payment_id = $1 and revoked_at is null
     returning wallet, product`,
    [paymentId, new Date(nowMs)],
  )
  return rows[0]
}

type PurchaseRow = {
  tier: AnyTier
  bought_at: Date
  standard_micro: Micro
  vip_micro: Micro
  kind: 'period' | 'renewal' | 'upgrade'
  paid_ms: bigint | null
}

export async function activePurchases(tx: Tx, wallet: Address, product: Product): Promise<Purchase[]> {
  const { rows } = await tx.query<PurchaseRow>(
    `select tier, bought_at, standard_micro, vip_micro, kind, paid_ms from subscription_purchase
     where wallet = $1 and product = $2 and revoked_at is null order by bought_at, kind = 'upgrade', payment_id`,
    [wallet, product],
  )
  return rows.map((row) => ({
    tier: row.tier,
    boughtAtMs: row.bought_at.getTime(),
    standardMicro: row.standard_micro,
    vipMicro: row.vip_micro,
    kind: row.kind,
    paidMs: row.paid_ms === null ? null : Number(row.paid_ms),
  }))
}

/** A contract wallet's proof counts on the chains it paid on: elsewhere the address may have another owner. */
export async function paidOn(sql: Sql, wallet: Address, network: string, product: Product = 'feeds'): Promise<boolean> {
  const { rowCount } = await sql.query(
    `select from subscription_purchase where wallet = $1 and network = $2 and product = $3 and revoked_at is null limit 1`,
    [wallet, network, product],
  )
  return rowCount > 0
}

export async function saveSubscription(tx: Tx, subscription: Subscription, nowMs: number): Promise<void> {
  const { wallet, product, tier, fromMs, untilMs, extendedMs, tokenVersion, tokenSecret, tokenHash } = subscription
  await tx.query(
    `insert into subscription (wallet, product, tier, from_at, until_at, extended_ms, token_version, token_secret, token_hash, changed_at)
     values ($1, $9, $2, $3, $4, $10, $5, $6, $7, $8)
     on conflict (wallet, product) do update set tier = excluded.tier, from_at = excluded.from_at, until_at = excluded.until_at,
       extended_ms = excluded.extended_ms, token_version = excluded.token_version, token_secret = excluded.token_secret, token_hash = excluded.token_hash,
       changed_at = excluded.changed_at`,
    [
      wallet,
      tier,
      new Date(fromMs),
      new Date(untilMs),
      tokenVersion,
      tokenSecret,
      tokenHash,
      new Date(nowMs),
      product,
      extendedMs,
    ],
  )
}

export async function saveTerm(tx: Tx, wallet: Address, product: Product, term: Term, nowMs: number): Promise<void> {
  await tx.query(
    `update subscription set tier = $3, from_at = $4, until_at = $5, extended_ms = $6, changed_at = $7
     where wallet = $1 and product = $2`,
    [wallet, product, term.tier, new Date(term.fromMs), new Date(term.untilMs), term.extendedMs, new Date(nowMs)],
  )
}

export async function retireToken(tx: Tx, hash: Buffer, wallet: Address, nowMs: number): Promise<void> {
  await tx.query(
    `insert into subscription_old_token (token_hash, wallet, ended_at) values ($1, $2, $3) on conflict do nothing`,
    [hash, wallet, new Date(nowMs)],
  )
}
