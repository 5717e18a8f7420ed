import type { Sql } from '@assay/till/store/database'
import type { FeedId } from '../feeds/feed.ts'

export async function keepQuality(
  sql: Sql,
  feed: FeedId,
  computedAtMs: number,
  document: Record<string, unknown>,
): Promise<void> {
  await sql.query('insert into matrix_quality (feed, computed_at, document) values ($1, $2, $3)', [
    feed,
    new Date(computedAtMs),
    JSON.stringify(document),
  ])
}

export async function readQuality(
  sql: Sql,
  feed: FeedId,
): Promise<{ computedAtMs: number; document: Record<string, unknown> } | undefined> {
  const { rows } = await sql.query<{ computed_at: Date; document: Record<string, unknown> }>(
    'select computed_at, document from matrix_quality where feed = $1 order by id desc limit 1',
    [feed],
  )
  const [row] = rows
  return row && { computedAtMs: row.computed_at.getTime(), document: row.document }
}

/** Whether prices came in since the last measurement: without new ones nothing new can be said. */
export async function qualityIsDue(sql: Sql): Promise<boolean> {
  const { rows } = await sql.query<{ due: boolean }>(
    `select not exists (select from matrix_quality) or exists (
       select from matrix_file where source = 'prices' and ingested_at >
         (select computed_at from matrix_quality order by id desc limit 1)) as due`,
  )
  return rows[0]?.due ?? true
}
