import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Database, Sql, Tx } from './database.ts'
import { changePause } from './pauses.ts'

/** A part of the chain's history that the books may have lost: everything up to `untilBlock`. */
export type RestoreGap = { network: string; untilBlock: bigint; reason: string; detectedAt: Date }

export type RestoreDeps = { clock: Clock; log: Log; metrics: Metrics }

/** No authorization is accepted that is valid for longer. */
export const authorizationSecondsMax = 600

/**
 * The books are older than the chain. Until `markReconciled`, payouts, creator roots, credit refunds and automatic credit
 * are off on the network; automatic credit stays off for as long as `gapUntil` says. A gap that is known already grows;
 * the answer is whether it is a new one.
 */
export async function recordRestore(
  database: Database,
  { clock, log, metrics }: RestoreDeps,
  gap: Pick<RestoreGap, 'network' | 'untilBlock' | 'reason'> & { lastSeenMs?: number | undefined },
): Promise<boolean> {
  const isNew = await database.transaction(async (tx) => {
    const { rows } = await tx.query<{ is_new: boolean }>(
      `insert into restore_gap as g (network, reason, until_block, lapses_at, last_seen_at) values ($1, $2, $3, $4, $5)
     on conflict (network) where reconciled_at is null
       do update set until_block = greatest(g.until_block, excluded.until_block),
         last_seen_at = coalesce(excluded.last_seen_at, g.last_seen_at), lapses_at = greatest(g.lapses_at, excluded.lapses_at), lapsed_block = null
     returning xmax = 0 as is_new`,
      [
        gap.network,
        gap.reason.slice(0, 300),
        gap.untilBlock,
        new Date(clock.nowMs() + authorizationSecondsMax * 1_000),
        gap.lastSeenMs === undefined ? null : new Date(gap.lastSeenMs),
      ],
    )
    if (rows[0]?.is_new !== true) return false
    await pauseMandates(tx)
    return true
  })
  if (isNew) {
    metrics.count('alarms', { alarm: 'restored' })
    log.error(
      { network: gap.network, reason: gap.reason, until_block: gap.untilBlock.toString() },
      'the database was restored; payouts are off until the chain is reconciled. What was revoked since the backup is valid again: docs/operations.md, "After a restore"',
    )
  }
  return isNew
}

/** The open gaps were found once more: whatever was compared with the outside before this is to be compared again. */
export async function recordRestoreAgain(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query('update restore_gap set noticed_at = clock_timestamp() where reconciled_at is null')
    await pauseMandates(tx)
  })
}

/**
 * What an owner revoked after the backup is open again, and no chain knows of it. So only mandates that their owner
 * confirms from now on go on, until the operator vouches for all of them (`assay resume mandates`).
 */
async function pauseMandates(tx: Tx): Promise<void> {
  const byOperator = await tx.query(
    `select from pause where name = 'mandates' and paused and changed_by <> 'node' for update`,
  )
  // All of them wait then, also those that are confirmed.
  if (byOperator.rowCount > 0) return
  const reason = 'the database was restored: what was revoked since the backup is not known'
  await changePause(tx, { name: 'mandates', paused: true, reason, by: 'node' })
}

export async function readGap(sql: Sql, network: string): Promise<RestoreGap | undefined> {
  const { rows } = await sql.query<RestoreGap>(
    `select network, until_block as "untilBlock", reason, detected_at as "detectedAt"
     from restore_gap where network = $1 and reconciled_at is null`,
    [network],
  )
  return rows[0]
}

/**
 * The last moment at which a process of this node is known to have worked with a database that was lost since. What the
 * restored one says about the time after its backup is not true.
 */
export async function lastSeenBeforeRestore(sql: Sql): Promise<number | undefined> {
  const { rows } = await sql.query<{ at: Date | null }>('select max(last_seen_at) as at from restore_gap')
  return rows[0]?.at?.getTime()
}

export async function isRestoring(sql: Sql, network: string): Promise<boolean> {
  return (await readGap(sql, network)) !== undefined
}

/** Something that the restore lost may still be found on the chain, or be included there. */
export async function isGapOpen(sql: Sql, network: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    'select from restore_gap where network = $1 and (reconciled_at is null or lapsed_block is null) limit 1',
    [network],
  )
  return rowCount > 0
}

const endless = 2n ** 63n - 1n

export type GapReach = { untilBlock: bigint; lapsedBlock: bigint | null }

/**
 * Up to which block a transfer may have been sold before the restore. Its block may be reorganised and the transfer
 * included again in any later one, until its authorization has expired in a final block.
 */
export function reachOfGap({ untilBlock, lapsedBlock }: GapReach): bigint {
  const lapsed = lapsedBlock ?? endless
  return lapsed > untilBlock ? lapsed : untilBlock
}

/**
 * Transfers in up to this block that nothing explains may have been posted before the restore: they go to
 * `accounts.restoreGap`, also when they are found after the gap was reconciled. Undefined when there never was a gap.
 */
export async function gapUntil(sql: Sql, network: string): Promise<bigint | undefined> {
  const { rows } = await sql.query<GapReach>(
    `select until_block as "untilBlock", lapsed_block as "lapsedBlock" from restore_gap where network = $1`,
    [network],
  )
  return rows.map(reachOfGap).reduce<bigint | undefined>((most, one) => (most && most > one ? most : one), undefined)
}

type Block = { number: bigint; timestamp: number }

/** This block is final: an authorization that was sold before the restore has expired in every later one. */
export async function lapseGaps(sql: Sql, network: string, { number, timestamp }: Block): Promise<void> {
  await sql.query(
    `update restore_gap set lapsed_block = $2 where network = $1 and lapsed_block is null and lapses_at < to_timestamp($3)`,
    [network, number, timestamp],
  )
}

/** Every transfer up to `block` has its row. True when that ended a gap: all that was off goes on by itself. */
export async function markReconciled(sql: Sql, network: string, block: bigint): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update restore_gap set reconciled_at = now() where network = $1 and reconciled_at is null and until_block <= $2`,
    [network, block],
  )
  return rowCount > 0
}
