import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Sql } from './database.ts'

/** How many days after their period rows are dropped, where that is set. The books are kept for ever. */
export type Retention = { answerDays?: number; paymentDays?: number }

export const defaultAnswerDays = 35
export const minAnswerDays = 2
export const minPaymentDays = 400

/** Makes the partitions of the next periods and drops those whose time is over. */
export async function rotatePartitions(
  { sql, log, metrics }: { sql: Sql; log: Log; metrics: Metrics },
  { answerDays, paymentDays }: Retention,
  nowMs: number,
): Promise<void> {
  const now = new Date(nowMs)
  const { rows } = await sql.query<{ failed: string[] }>('select make_partitions($1) as failed', [now])
  const failed = rows[0]?.failed ?? []
  if (failed.length > 0) {
    metrics.count('alarms', { alarm: 'partition_missing' })
    log.warn({ partitions: failed }, 'partitions could not be created; rows go to the default partition until then')
  }
  const set: Record<string, number | undefined> = { payment_answer: answerDays, payment: paymentDays }
  const tables = await sql.query<{ name: string; keep_days: number | null }>(
    'select table_name as name, keep_days from partitioned_table where least_days is not null',
  )
  for (const { name, keep_days } of tables.rows) {
    const days = set[name] ?? keep_days
    if (days === null) continue
    const found = await sql.query<{ dropped: string[] }>('select drop_partitions($1, $2, $3) as dropped', [
      name,
      days,
      now,
    ])
    const dropped = found.rows[0]?.dropped ?? []
    if (dropped.length > 0) log.info({ partitions: dropped }, 'partitions were dropped as their time was over')
  }
}
