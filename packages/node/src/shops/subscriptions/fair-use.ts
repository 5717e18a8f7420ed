import type { Address } from '@assay/protocol/address'
import type { Sql } from '@assay/till/store/database'
import type { SubscriptionPolicy } from './policy.ts'

const takeSql = `
with minute as (
  insert into subscription_usage as u (wallet, span, began_at, used) values ($1, 'minute', date_trunc('minute', $2::timestamptz), 1)
  on conflict (wallet, span) do update
    set used = case when u.began_at = excluded.began_at then u.used + 1 else 1 end, began_at = excluded.began_at
    where u.began_at < excluded.began_at or u.used < $3
  returning 1
), day as (
  insert into subscription_usage as u (wallet, span, began_at, used)
    select $1, 'day', date_trunc('day', $2::timestamptz, 'UTC'), 1 from minute
  on conflict (wallet, span) do update
    set used = case when u.began_at = excluded.began_at then u.used + 1 else 1 end, began_at = excluded.began_at
    where u.began_at < excluded.began_at or u.used < $4
  returning 1
)
select exists (select from minute) as minute, exists (select from day) as day`

/** Counts one pull in one guarded statement; tells which limit refused it. */
export async function countPull(
  sql: Sql,
  wallet: Address,
  limits: SubscriptionPolicy['fairUse'],
  nowMs: number,
): Promise<'taken' | 'minute' | 'day'> {
  const { rows } = await sql.query<{ minute: boolean; day: boolean }>({
    name: 'subscription_take_pull',
    text: takeSql,
    values: [wallet, new Date(nowMs), limits.perMinute, limits.perDay],
  })
  const taken = rows[0]
  if (!taken?.minute) return 'minute'
  return taken.day ? 'taken' : 'day'
}

/** A pull that gave nothing does not count. */
export async function refundPull(sql: Sql, wallet: Address): Promise<void> {
  await sql.query(`update subscription_usage set used = greatest(0, used - 1) where wallet = $1`, [wallet])
}

export async function readUsage(sql: Sql, wallet: Address, nowMs: number): Promise<{ minute: number; day: number }> {
  const { rows } = await sql.query<{ span: 'minute' | 'day'; used: number }>(
    `select span, used from subscription_usage where wallet = $1
     and began_at = case span when 'minute' then date_trunc('minute', $2::timestamptz) else date_trunc('day', $2::timestamptz, 'UTC') end`,
    [wallet, new Date(nowMs)],
  )
  const of = (span: string) => rows.find((row) => row.span === span)?.used ?? 0
  return { minute: of('minute'), day: of('day') }
}

/** Seconds until the span that is used up is over. */
export function secondsLeft(span: 'minute' | 'day', nowMs: number): number {
  const spanMs = span === 'minute' ? 60_000 : 86_400_000
  return Math.ceil((spanMs - (nowMs % spanMs)) / 1000)
}
