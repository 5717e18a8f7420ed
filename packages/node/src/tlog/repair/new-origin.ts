import { canonicalJson } from '@assay/protocol/canonical-json'
import { writeAudit } from '@assay/till/store/audit-log'
import type { Database } from '@assay/till/store/database'
import { readOutsideHeads } from '../compare-with-witnesses.ts'
import { lockTree, newestCheckpoint, writeTiles } from '../store.ts'
import { growTiles } from '../tiles.ts'
import { leafHash } from '../tree-hash.ts'
import { RepairImpossible } from './plan-repair.ts'
import { allowRewriting, clearFrom, repairedChannel } from './rewrite-log.ts'

export const originPattern = /^[^\s+]{1,255}$/

/**
 * Ends the log under its name and begins another that says so in its first leaf. Every entry gets a place in it; heads of
 * the old name are kept as they were, and what buyers hold stays verifiable against them.
 */
export async function startNewOrigin(
  database: Database,
  origin: string,
  by: { actor: string; reason: string; nowIso: string },
): Promise<{ predecessor: string }> {
  if (!originPattern.test(origin)) throw new RepairImpossible(`not a name of a log: ${origin}`)
  return database.transaction(async (tx) => {
    const { origin: old } = await lockTree(tx)
    if (old === null) throw new RepairImpossible('this log was never opened')
    const { rowCount } = await tx.query('select from log_predecessor where origin = $1', [origin])
    if (old === origin || rowCount > 0) throw new RepairImpossible(`${origin} was used before`)
    const last = await newestCheckpoint(tx)
    const outside = (await readOutsideHeads(tx)).find(({ agrees }) => !agrees)
    const entry = Buffer.from(
      canonicalJson({
        type: 'assay.log_origin/v1',
        origin,
        predecessor: old,
        last_head: last?.note ?? null,
        outside_head: outside?.note ?? null,
        outside_size: outside ? String(outside.size) : null,
        outside_source: outside?.source ?? null,
        reason: by.reason,
        replaced_at: by.nowIso,
      }),
    )
    await allowRewriting(tx, true)
    await clearFrom(tx, old, 0)
    await allowRewriting(tx, false)
    const hash = leafHash(entry)
    await writeTiles(tx, growTiles(0, new Map(), [hash]))
    await tx.query(
      `insert into log_entry (kind, subject, entry, leaf_hash, leaf_index) values ('log_origin', $1, $2, $3, 0)`,
      [`log_origin:${origin}`, entry, hash],
    )
    await tx.query(
      'insert into log_predecessor (origin, last_head, outside_head, outside_size) values ($1, $2, $3, $4)',
      [old, last?.note ?? null, outside?.note ?? null, outside?.size ?? null],
    )
    await tx.query('delete from log_outside_head')
    await tx.query(
      `update log_tree set size = 1, origin = $1, fork_reason = null, forked_at = null, checked_at = clock_timestamp()`,
      [origin],
    )
    const { actor, reason } = by
    await writeAudit(tx, { actor, action: 'log.new_origin', subject: origin, details: { reason, predecessor: old } })
    await tx.query('select pg_notify($1, $2)', [repairedChannel, ''])
    return { predecessor: old }
  })
}
