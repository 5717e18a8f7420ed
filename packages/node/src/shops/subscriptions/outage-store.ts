import type { Address } from '@assay/protocol/address'
import type { Sql, Tx } from '@assay/till/store/database'
import type { Outage } from './compute-term.ts'
import type { Product } from './policy.ts'

type Row = { began_at: Date; ended_at: Date; down: number; parts: number }

const toOutage = (row: Row): Outage => ({
  beganMs: row.began_at.getTime(),
  endedMs: row.ended_at.getTime(),
  down: row.down,
  of: row.parts,
})

/** Those that may have taken time from what was bought then, oldest first. */
export async function outagesSince(sql: Sql, product: Product, sinceMs: number): Promise<Outage[]> {
  const { rows } = await sql.query<Row>({
    name: 'subscription_outages',
    text: `select began_at, ended_at, down, parts from subscription_outage
           where product = $1 and ended_at > $2 order by began_at`,
    values: [product, new Date(sinceMs)],
  })
  return rows.map(toOutage)
}

export async function lockOpenOutage(tx: Tx, product: Product): Promise<Outage | undefined> {
  const { rows } = await tx.query<Row>(
    `select began_at, ended_at, down, parts from subscription_outage where product = $1 and open for update`,
    [product],
  )
  return rows[0] && toOutage(rows[0])
}

export async function growOutage(tx: Tx, product: Product, untilMs: number, open: boolean): Promise<void> {
  await tx.query(
    `update subscription_outage set ended_at = greatest(ended_at, $2), open = $3 where product = $1 and open`,
    [product, new Date(untilMs), open],
  )
}

export async function insertOutage(tx: Tx, product: Product, outage: Outage, open: boolean): Promise<void> {
  await tx.query(
    `insert into subscription_outage (product, began_at, ended_at, down, parts, open) values ($1, $2, $3, $4, $5, $6)`,
    [product, new Date(outage.beganMs), new Date(outage.endedMs), outage.down, outage.of, open],
  )
}

/** Records this check and returns the time of the one before. */
export async function recordCheck(tx: Tx, product: Product, nowMs: number): Promise<number | undefined> {
  const { rows } = await tx.query<{ checked_at: Date }>(
    `select checked_at from subscription_look where product = $1 for update`,
    [product],
  )
  await tx.query(
    `insert into subscription_look as l (product, checked_at) values ($1, $2)
     on conflict (product) do update set checked_at = greatest(l.checked_at, excluded.checked_at)`,
    [product, new Date(nowMs)],
  )
  return rows[0]?.checked_at.getTime()
}

export async function recordExtension(
  tx: Tx,
  given: { wallet: Address; product: Product; addedMs: number; untilMs: number; atMs: number },
): Promise<void> {
  await tx.query(
    `insert into subscription_extension (wallet, product, given_ms, until_at, given_at) values ($1, $2, $3, $4, $5)`,
    [given.wallet, given.product, given.addedMs, new Date(given.untilMs), new Date(given.atMs)],
  )
}

/** Subscribers whose time ends between these moments, a page of them. */
export async function subscribersUntil(
  sql: Sql,
  product: Product,
  range: { fromMs: number; toMs: number | null; after: string; limit: number },
): Promise<Address[]> {
  const { rows } = await sql.query<{ wallet: Address }>(
    `select wallet from subscription
     where product = $1 and until_at > $2 and ($3::timestamptz is null or until_at <= $3) and wallet > $4
     order by wallet limit $5`,
    [product, new Date(range.fromMs), range.toMs === null ? null : new Date(range.toMs), range.after, range.limit],
  )
  return rows.map(({ wallet }) => wallet)
}
