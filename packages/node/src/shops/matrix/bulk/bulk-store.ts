import { createHash } from 'node:crypto'
import type { Sql } from '@assay/till/store/database'
import type { FeedId } from '../feeds/feed.ts'
import { type BulkDeps, type BulkInputs, type BulkTable, bulkInputs, bulkMonths, makeTable } from './make-table.ts'
import { type BulkFormat, bulkFormats, renderTable } from './render-table.ts'

export type BulkEntry = {
  feed: FeedId
  month: string
  format: BulkFormat
  key: string
  rows: number
  bytes: number
  sha256: string
  madeAtMs: number
}

type Row = Omit<BulkEntry, 'rows' | 'bytes' | 'madeAtMs'> & { rows: bigint; bytes: bigint; made_at: Date }

/** Newest month first. */
export async function bulkEntries(sql: Sql, feed: FeedId): Promise<BulkEntry[]> {
  const { rows } = await sql.query<Row>(
    `select feed, to_char(month, 'YYYY-MM') as month, format, encode(key, 'hex') as key, rows, bytes,
       encode(sha256, 'hex') as sha256, made_at
     from matrix_bulk where feed = $1 order by month desc, format`,
    [feed],
  )
  return rows.map(({ made_at, rows: count, bytes, ...row }) => ({
    ...row,
    rows: Number(count),
    bytes: Number(bytes),
    madeAtMs: made_at.getTime(),
  }))
}

/** Makes one file and notes what it is; another process that makes it too gets the same bytes. */
export async function makeBulkFile(
  deps: BulkDeps,
  { feed, month, format }: { feed: FeedId; month: string; format: BulkFormat },
  inputs: BulkInputs,
  made?: BulkTable,
): Promise<{ bytes: Uint8Array; entry: BulkEntry }> {
  const table = made ?? (await makeTable(deps, feed, month, inputs))
  const bytes = await renderTable(table, format, () => deps.clock.sleep(0))
  const entry: BulkEntry = {
    feed,
    month,
    format,
    key: inputs.key,
    rows: table.rows,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    madeAtMs: deps.clock.nowMs(),
  }
  await deps.database.query(
    `insert into matrix_bulk (feed, month, format, key, rows, bytes, sha256, made_at)
     values ($1, $2::date, $3, decode($4, 'hex'), $5, $6, decode($7, 'hex'), $8)
     on conflict (feed, month, format) do update set key = excluded.key, rows = excluded.rows, bytes = excluded.bytes,
       sha256 = excluded.sha256, made_at = excluded.made_at`,
    [feed, `${month}-01`, format, entry.key, entry.rows, entry.bytes, entry.sha256, new Date(entry.madeAtMs)],
  )
  return { bytes, entry }
}

/** Brings the manifest up to date: so many files at once, newest months first. How many were made. */
export async function recordBulkFiles(deps: BulkDeps, feeds: readonly FeedId[], filesMax: number): Promise<number> {
  let made = 0
  for (const feed of feeds) {
    const kept = await bulkEntries(deps.database, feed)
    for (const month of await bulkMonths(deps, feed)) {
      const inputs = await bulkInputs(deps, feed, month)
      let table: BulkTable | undefined
      for (const format of inputs ? bulkFormats : []) {
        if (kept.some((one) => one.month === month && one.format === format && one.key === inputs?.key)) continue
        if (made >= filesMax) return made
        table ??= await makeTable(deps, feed, month, inputs as BulkInputs)
        await makeBulkFile(deps, { feed, month, format }, inputs as BulkInputs, table)
        made += 1
      }
    }
  }
  return made
}
