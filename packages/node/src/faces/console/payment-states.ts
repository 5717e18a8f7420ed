import type { Clock } from '@assay/till/kernel/clock'
import { firstIdAt } from '@assay/till/kernel/ids'
import type { Database, Sql } from '@assay/till/store/database'

export type PaymentState = { state: string; payments: number; amount_micro: string; oldest_at: string }

type Row = { state: string; payments: string; amount_micro: string; oldest: Date }

/** Younger payments are still on their way from state to state, and are counted one by one. */
const settledAgeMs = 600_000

/** Counts what became older, so that nobody who looks has to wait for it. A trigger counts what changes its state after that. */
export async function countPayments(database: Database, clock: Clock): Promise<void> {
  const until = firstIdAt('pay', clock.nowMs() - settledAgeMs)
  await database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(1634952033, 12)')
    const { rows } = await tx.query<{ from: string }>('select until_payment as from from payment_count_head')
    const from = rows[0]?.from ?? ''
    if (from >= until) return
    await tx.query(
      `insert into books_rollup_payment as f (state, payments, amount_micro, oldest)
       select state, count(*), sum(amount_micro), min(claimed_at) from payment
       where id >= $1 and id < $2 and state not in ('claimed', 'settling', 'unknown', 'settled') group by state
       on conflict (state) do update set payments = f.payments + excluded.payments,
         amount_micro = f.amount_micro + excluded.amount_micro, oldest = least(f.oldest, excluded.oldest)`,
      [from, until],
    )
    await tx.query('update payment_count_head set until_payment = $1', [until])
  })
}

/** Payments by state. Those without an end are always counted again: they are what an operator looks for. */
export async function readPaymentStates(sql: Sql): Promise<PaymentState[]> {
  // Read beforehand: for a value that it does not know, the server plans to read a whole partition.
  const { rows: head } = await sql.query<{ from: string }>('select until_payment as from from payment_count_head')
  const from = head[0]?.from ?? ''
  const { rows } = await sql.query<Row & { is_counted: boolean }>(
    `with unfinished as (
       select state, amount_micro, claimed_at from payment where phase in ('open', 'settled')
     ), young as (
       select state, amount_micro, claimed_at from payment
       where id >= $1
         and state not in ('claimed', 'settling', 'unknown', 'settled')
     )
     select state, sum(payments)::text as payments, sum(amount_micro)::text as amount_micro, min(oldest) as oldest,
       (select until_payment from payment_count_head) <> $1 as is_counted from (
       select state, count(*) as payments, sum(amount_micro) as amount_micro, min(claimed_at) as oldest
       from (select * from unfinished union all select * from young) counted group by state
       union all
       select state, payments, amount_micro, oldest from books_rollup_payment
     ) counted group by state having sum(payments) <> 0 order by state`,
    [from],
  )
  // The job went on between the two: what it counted would be here twice.
  if (rows[0]?.is_counted) return readPaymentStates(sql)
  return rows.map(({ state, payments, amount_micro, oldest }) => ({
    state,
    payments: Number(payments),
    amount_micro,
    oldest_at: oldest.toISOString(),
  }))
}
