import type { Sql } from '@assay/till/store/database'
import { summaryOf } from './describe-source.ts'
import type { SourceRow, SourceState } from './records.ts'

export type SourceFilter = {
  state?: SourceState | undefined
  scoreMin?: number | undefined
  search?: string | undefined
  limit: number
  cursor?: string | undefined
}

/** Best score first; the cursor names the last one seen, so that rows which move do not repeat a whole page. */
export async function listSources(sql: Sql, filter: SourceFilter) {
  const after = filter.cursor === undefined ? undefined : parseCursor(filter.cursor)
  if (filter.cursor !== undefined && !after) return undefined
  const { rows } = await sql.query<SourceRow>(
    `select * from source
     where ($1::text is null or state = $1)
       and ($2::integer is null or cite_score >= $2)
       and ($3::text is null or strpos(domain, $3) > 0 or strpos(display, $3) > 0)
       and ($4::integer is null or (-coalesce(cite_score, -1), domain) > (-$4, $5::text))
     order by -coalesce(cite_score, -1), domain limit $6`,
    [
      filter.state ?? null,
      filter.scoreMin ?? null,
      filter.search?.toLowerCase() ?? null,
      after?.score ?? null,
      after?.domain ?? null,
      filter.limit + 1,
    ],
  )
  const page = rows.slice(0, filter.limit)
  const last = page.at(-1)
  return { data: page.map(summaryOf), next_cursor: rows.length > filter.limit && last ? cursorOf(last) : null }
}

const cursorOf = (row: SourceRow) => Buffer.from(`${row.cite_score ?? -1} ${row.domain}`).toString('base64url')

export function parseCursor(text: string): { score: number; domain: string } | undefined {
  const [, score, domain] =
    /^(-1|\d{1,3}) ([a-z0-9.-]{3,253})$/.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? []
  return score === undefined || domain === undefined ? undefined : { score: Number(score), domain }
}
