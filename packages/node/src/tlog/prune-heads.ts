import type { Database } from '@assay/till/store/database'

/** Within this time every head stays: a paid answer that is asked for again has the same proof to the byte. */
export const headDaysKept = 30
/** Older entries are proven by the first head at or after the next multiple of this. */
export const leavesPerHead = 4_096
/** However old: `witnessedCheckpoint` looks through as many. */
const newestKept = 64

/**
 * Deletes old tree heads and their cosignatures. One head for each stretch of leaves stays, the last in it, so that every
 * entry keeps a proof that does not change any more; so do the newest heads, those on chain, and the last one each
 * configured witness signed. Peers come and go, and would otherwise leave one each.
 */
export async function pruneHeads(database: Database, nowMs: number): Promise<number> {
  return database.transaction(async (tx) => {
    await tx.query('select from log_tree for update')
    const { rows } = await tx.query<{ size: bigint }>(
      `select c.size from log_checkpoint c
       where c.signed_at < $1
         and c.size < (select min(size) from (select size from log_checkpoint order by size desc limit $3) n)
         and exists (select from log_checkpoint l where l.size > c.size and l.size <= ((c.size - 1) / $2 + 1) * $2
           and l.signed_at < $1)
         and not exists (select from log_anchor a where a.size = c.size)
         and not exists (select from log_cosignature s where s.size = c.size and not s.peer
           and not exists (select from log_cosignature m where m.witness = s.witness and m.size > s.size))
       order by c.size limit 100000`,
      [new Date(nowMs - headDaysKept * 86_400_000), leavesPerHead, newestKept],
    )
    const sizes = rows.map(({ size }) => size)
    await tx.query('delete from log_cosignature where size = any($1)', [sizes])
    await tx.query('delete from log_checkpoint where size = any($1)', [sizes])
    return sizes.length
  })
}
