import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Sql } from './database.ts'

/** How many days after their period rows are dropped. Absent: never. The books have no such number. */
export type Retention = { answerDays?: number; paymentDays?: number }

/** Answers can be asked for with their identifier for this long, unless something else is set. */
export const answerDaysUsual = 35
export const answerDaysLeast = 2
export const paymentDaysLeast = 400

/** Makes the partitions of the next periods and drops those whose time is over. */
export async function keepPartitions(
  { sql, log, metrics }: { sql: Sql; log: Log; metrics: Metrics },
  { answerDays = answerDaysUsual, paymentDays }: Retention,
  nowMs: number,
): Promise<void> {
  const now = new Date(nowMs)
  const { rows } = await sql.query<{ failed: string[] }>('select make_partitions($1) as failed', [now])
  const failed = rows[0]?.failed ?? []
  if (failed.length > 0) {
    metrics.count('alarms', { alarm: 'partition_missing' })
    log.warn({ partitions: failed }, 'partitions could not be made; their rows go to the rest until they can')
  }
  const drop = async (table: string, days: number) => {
    const found = await sql.query<{ dropped: string[] }>('select drop_partitions($1, $2, $3) as dropped', [
      table,
      days,
      now,
    ])
    const dropped = found.rows[0]?.dropped ?? []
    if (dropped.length > 0) log.info({ partitions: dropped }, 'partitions were dropped as their time was over')
  }
  await drop('payment_answer', answerDays)
  if (paymentDays !== undefined) await drop('payment', paymentDays)
}
