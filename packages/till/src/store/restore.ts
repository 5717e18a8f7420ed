import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Sql } from './database.ts'

/** A part of the chain's history that the books may have lost: everything up to `untilBlock`. */
export type RestoreGap = { network: string; untilBlock: bigint; reason: string; detectedAt: Date }

export type RestoreDeps = { log: Log; metrics: Metrics }

/**
 * The books are older than the chain. Until `markReconciled`, payouts, creator roots, credit refunds and automatic credit
 * are off on the network. A gap that is known already grows; the answer is whether it is a new one.
 */
export async function noteRestore(
  sql: Sql,
  { log, metrics }: RestoreDeps,
  gap: Pick<RestoreGap, 'network' | 'untilBlock' | 'reason'>,
): Promise<boolean> {
  const { rows } = await sql.query<{ is_new: boolean }>(
    `insert into restore_gap as g (network, reason, until_block) values ($1, $2, $3)
     on conflict (network) where reconciled_at is null
       do update set until_block = greatest(g.until_block, excluded.until_block)
     returning xmax = 0 as is_new`,
    [gap.network, gap.reason.slice(0, 300), gap.untilBlock],
  )
  const isNew = rows[0]?.is_new === true
  if (isNew) {
    metrics.count('alarms', { alarm: 'restored' })
    log.error(
      { network: gap.network, reason: gap.reason, until_block: gap.untilBlock.toString() },
      'the database was restored; payouts are off until the chain is reconciled',
    )
  }
  return isNew
}

export async function readGap(sql: Sql, network: string): Promise<RestoreGap | undefined> {
  const { rows } = await sql.query<RestoreGap>(
    `select network, until_block as "untilBlock", reason, detected_at as "detectedAt"
     from restore_gap where network = $1 and reconciled_at is null`,
    [network],
  )
  return rows[0]
}

export async function isRestoring(sql: Sql, network: string): Promise<boolean> {
  return (await readGap(sql, network)) !== undefined
}

/**
 * Transfers in up to this block that nothing explains may have been booked before the restore: they go to
 * `accounts.restoreGap`, also when they are found after the gap was reconciled. Undefined when there never was a gap.
 */
export async function gapUntil(sql: Sql, network: string): Promise<bigint | undefined> {
  const { rows } = await sql.query<{ block: bigint | null }>(
    'select max(until_block) as block from restore_gap where network = $1',
    [network],
  )
  return rows[0]?.block ?? undefined
}

/** Every transfer up to `block` has its row. True when that ended a gap: all that was off goes on by itself. */
export async function markReconciled(sql: Sql, network: string, block: bigint): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update restore_gap set reconciled_at = now() where network = $1 and reconciled_at is null and until_block <= $2`,
    [network, block],
  )
  return rowCount > 0
}
