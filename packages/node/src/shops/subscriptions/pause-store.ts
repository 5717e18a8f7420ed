import type { Address } from '@assay/protocol/address'
import type { Sql, Tx } from '@assay/till/store/database'
import type { Pause } from './compute-term.ts'
import type { Product } from './policy.ts'

const dayMs = 86_400_000
/** Shorter ones give nothing back: otherwise nights and weekends could be paused one by one. */
export const pauseMinMs = 7 * dayMs
/** It ends by itself then. */
export const pauseMaxMs = 90 * dayMs
/** From the beginning of one to the beginning of the next. */
export const pauseEveryMs = 60 * dayMs

/** Those that give time back, oldest first; one that goes on counts up to now. */
export async function pausesOf(sql: Sql, wallet: Address, product: Product, nowMs: number): Promise<Pause[]> {
  const { rows } = await sql.query<{ began_at: Date; ended_at: Date | null }>(
    'select began_at, ended_at from subscription_pause where wallet = $1 and product = $2 order by began_at',
    [wallet, product],
  )
  return rows
    .map(({ began_at, ended_at }) => {
      const beganMs = began_at.getTime()
      return { beganMs, endedMs: Math.min(ended_at?.getTime() ?? nowMs, beganMs + pauseMaxMs) }
    })
    .filter(({ beganMs, endedMs }) => endedMs - beganMs >= pauseMinMs)
}

/** When the last one began; undefined without any. */
export async function lastPause(tx: Tx, wallet: Address, product: Product): Promise<number | undefined> {
  const { rows } = await tx.query<{ began_at: Date }>(
    'select began_at from subscription_pause where wallet = $1 and product = $2 order by began_at desc limit 1',
    [wallet, product],
  )
  return rows[0]?.began_at.getTime()
}

export async function beginPause(tx: Tx, wallet: Address, product: Product, nowMs: number): Promise<void> {
  const at = new Date(nowMs)
  await tx.query('insert into subscription_pause (wallet, product, began_at) values ($1, $2, $3)', [
    wallet,
    product,
    at,
  ])
  await tx.query('update subscription set paused_at = $3, changed_at = $3 where wallet = $1 and product = $2', [
    wallet,
    product,
    at,
  ])
}

/** False when none was open. */
export async function endPause(tx: Tx, wallet: Address, product: Product, nowMs: number): Promise<boolean> {
  const at = new Date(nowMs)
  const { rowCount } = await tx.query(
    `update subscription_pause set ended_at = least(greatest($3, began_at), began_at + make_interval(secs => $4))
     where wallet = $1 and product = $2 and ended_at is null`,
    [wallet, product, at, pauseMaxMs / 1_000],
  )
  if (rowCount === 0) return false
  await tx.query('update subscription set paused_at = null, changed_at = $3 where wallet = $1 and product = $2', [
    wallet,
    product,
    at,
  ])
  return true
}

/** Paused for as long as is allowed. */
export async function overduePauses(sql: Sql, nowMs: number): Promise<{ wallet: Address; product: Product }[]> {
  const { rows } = await sql.query<{ wallet: Address; product: Product }>(
    'select wallet, product from subscription_pause where ended_at is null and began_at <= $1 order by began_at limit 200',
    [new Date(nowMs - pauseMaxMs)],
  )
  return rows
}
