import type { Sql } from '../store/database.ts'

const lossDaysKept = 30
const ownerDaysKept = 7
const callDaysKept = 30
const mandateDaysKept = 30
const rowsPerTurn = 5_000
/** Of one run; what is left waits for the next. */
const turnsMax = 200
const dayMs = 86_400_000

/**
 * Rows that are no longer needed: payers with nothing in flight, losses of past days, processes long dead, refusals
 * that are over, mandates that ran out unused. Payments and their answers go with their partitions, see
 * `rotatePartitions`.
 */
export async function removeIdle(sql: Sql, nowMs: number): Promise<void> {
  await sql.query('delete from payer_in_flight where in_flight = 0 and in_flight_micro = 0')
  await sql.query('delete from settlement_loss where day < $1', [new Date(nowMs - lossDaysKept * dayMs)])
  await sql.query(
    `delete from payment_owner o where dead_at < $1 and not exists (
       select from payment p where p.owner = o.owner and p.phase in ('open','settled'))`,
    [new Date(nowMs - ownerDaysKept * dayMs)],
  )
  await sql.query('delete from refused_payer where refused_until < $1', [new Date(nowMs)])
  await inTurns(
    sql,
    `delete from mandate where id in (
       select id from mandate where total_micro = 0 and valid_until < $1 order by valid_until limit $2)`,
    new Date(nowMs - mandateDaysKept * dayMs),
  )
  await deleteCalls(sql, new Date(nowMs - callDaysKept * dayMs))
}

/** A call that was taken stays as a record of the sale; its name is free again before its answer is gone. */
async function deleteCalls(sql: Sql, before: Date): Promise<void> {
  await inTurns(
    sql,
    `delete from entitled_call where id in (
       select id from entitled_call where state = 'released' and ended_at < $1 order by ended_at limit $2)`,
    before,
  )
  await inTurns(
    sql,
    `update entitled_call set idempotency_key = null
     where id in (select id from entitled_call where state = 'captured' and idempotency_key is not null and ended_at < $1
       order by ended_at limit $2)`,
    before,
  )
}

/** A turn at a time, until none is full: rows that come faster than one turn an hour would otherwise pile up. */
async function inTurns(sql: Sql, text: string, before: Date): Promise<void> {
  for (let turn = 0; turn < turnsMax; turn += 1) {
    const { rowCount } = await sql.query(text, [before, rowsPerTurn])
    if ((rowCount ?? 0) < rowsPerTurn) return
  }
}
