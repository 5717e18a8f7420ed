import type { Database, Tx } from '@assay/till/store/database'
import { type IndexedPage, indexedPage, pageColumns, type StoredPage } from './indexed-page.ts'

/** Sent with the domain when pages of it were stored. A wake-up only: what changed is read by number. */
export const pageStoredChannel = 'page_stored'

/** Held in shared mode while changes are numbered, exclusively while reading up to which number they are complete. */
export const pageChangeLock = '1634952033, 50'

/** `page` is undefined when there is nothing to offer any more: gone, forbidden, marked noindex or of a refused source. */
export type PageChange = { seq: bigint; domain: string; url: string; page: IndexedPage | undefined }

/**
 * Changes after a number, oldest first; a page that changed twice appears once. Nothing is skipped: numbers up to
 * `completeTo` belong to transactions that have ended. Ask again from `nextSeq` until no change comes.
 */
export async function readPageChanges(
  database: Database,
  afterSeq: bigint,
  limit: number,
): Promise<{ changes: PageChange[]; nextSeq: bigint }> {
  const completeTo = await database.transaction(readHorizon)
  const { rows } = await database.query<StoredPage & { change_seq: bigint }>(
    `select p.change_seq, ${pageColumns}
     where p.change_seq > $1 and p.change_seq <= $2 order by p.change_seq limit $3`,
    [afterSeq, completeTo, limit],
  )
  const changes = rows.map((row) => ({
    seq: row.change_seq,
    domain: row.domain,
    url: row.url,
    page: indexedPage(row),
  }))
  const last = changes.at(-1)
  return { changes, nextSeq: rows.length === limit && last ? last.seq : completeTo > afterSeq ? completeTo : afterSeq }
}

async function readHorizon(tx: Tx): Promise<bigint> {
  await tx.query(`select pg_advisory_xact_lock(${pageChangeLock})`)
  const { rows } = await tx.query<{ seq: bigint }>(`select coalesce(pg_sequence_last_value('page_change'), 0) as seq`)
  return rows[0]?.seq ?? 0n
}
