import type { Database } from '@assay/till/store/database'

/** Within this time every head stays: a paid answer that is asked for again has the same proof to the byte. */
export const headDaysKept = 30
/** Older entries are proven by the first head at or after the next multiple of this. */
export const leavesPerHead = 4_096
/** However old: `witnessedCheckpoint` looks through as many. */
const newestKept = 64
const headsMax = 100_000

/**
 * Deletes old tree heads and their cosignatures. One head for each stretch of leaves stays, the last in it, so that every
 * entry keeps a proof that does not change any more; so do the newest heads, those on chain, and the last one each
 * configured witness signed. Peers come and go, and would otherwise leave one each.
 */
export async function pruneHeads(database: Database, nowMs: number): Promise<number> {
  const before = new Date(nowMs - headDaysKept * 86_400_000)
  return database.transaction(async (tx) => {
    // What was decided about once is not checked again. A repair may have made the tree smaller.
    const { rows: trees } = await tx.query<{ from: bigint; until: bigint }>(
      `select least(pruned_to, size) as from,
         coalesce((select min(size) from (select size from log_checkpoint order by size desc limit $1) n), 0) as until
       from log_tree for update`,
      [newestKept],
    )
    const { from = 0n, until = 0n } = trees[0] ?? {}
    const { rows } = await tx.query<{ size: bigint }>(
      `select c.size from log_checkpoint c
       where c.signed_at < $1 and c.size > $3 and c.size < $4
         and exists (select from log_checkpoint l where l.size > c.size and l.size <= ((c.size - 1) / $2 + 1) * $2
           and l.signed_at < $1)
         and not exists (select from log_anchor a where a.size = c.size)
         and not exists (select from log_cosignature s where s.size = c.size and not s.peer
           and not exists (select from log_cosignature m where m.witness = s.witness and m.size > s.size))
       order by c.size limit $5`,
      [before, leavesPerHead, from, until, headsMax],
    )
    const sizes = rows.map(({ size }) => size)
    await tx.query('delete from log_cosignature where size = any($1)', [sizes])
    await tx.query('delete from log_checkpoint where size = any($1)', [sizes])
    if (sizes.length < headsMax)
      await tx.query(
        `update log_tree set pruned_to = greatest(0, least($4, (
           select size from log_checkpoint where size > $3 and signed_at >= $1 order by size limit 1)) - 1) / $2 * $2`,
        [before, leavesPerHead, from, until],
      )
    return sizes.length
  })
}
