import type { Sql } from '../store/database.ts'

const lossDaysKept = 30
const ownerDaysKept = 7
const dayMs = 86_400_000

/**
 * Rows that say nothing any more: payers with nothing in flight, losses of past days, processes long dead. Payments and
 * their answers stay, for whoever paid may still ask.
 */
export async function forgetIdle(sql: Sql, nowMs: number): Promise<void> {
  await sql.query('delete from payer_flight where in_flight = 0 and in_flight_micro = 0')
  await sql.query('delete from settlement_loss where day < $1', [new Date(nowMs - lossDaysKept * dayMs)])
  await sql.query(
    `delete from payment_owner o where dead_at < $1 and not exists (
       select from payment p where p.owner = o.owner and p.state in ('claimed','settling','unknown','settled'))`,
    [new Date(nowMs - ownerDaysKept * dayMs)],
  )
}
