import type { Sql } from '@assay/till/store/database'
import type { Declaration, ServiceType } from './declaration.ts'

export type AgentFilter = {
  capability?: string | undefined
  service?: ServiceType | undefined
  scoreMin?: number | undefined
  limit: number
  cursor?: string | undefined
}

export type FoundAgent = {
  subject: string
  version: number
  score: number | null
  declaration: Declaration
  updatedAt: Date
}

type Row = {
  subject: string
  version: number
  score: number | null
  document: Declaration
  created_at: Date
  updated_at: Date
}

/** Best known first, and of equals the one that has been here longest: an address can be searched for, time cannot. An agent that revoked everything, or was deactivated, is in no list. Undefined for a cursor that is none. */
export async function searchAgents(
  sql: Sql,
  filter: AgentFilter,
): Promise<{ agents: FoundAgent[]; nextCursor: string | null } | undefined> {
  const after = filter.cursor === undefined ? undefined : parseCursor(filter.cursor)
  if (filter.cursor !== undefined && after === undefined) return undefined
  const { rows } = await sql.query<Row>(
    `select a.subject, a.version, a.score, v.document, a.created_at, a.updated_at
     from agent a join agent_version v on v.subject = a.subject and v.version = a.version
     where a.deactivated_at is null
       and exists (select from agent_capability c where c.subject = a.subject and ($1::text is null or c.capability = $1 or starts_with(c.capability, $1 || '.')))
       and ($2::text is null or v.document->'services' @> jsonb_build_array(jsonb_build_object('type', $2::text)))
       and ($3::integer is null or a.score >= $3)
       and ($4::integer is null or (-coalesce(a.score, -1), a.created_at, a.subject) > (-$4, $5::timestamptz, $6::text))
     order by -coalesce(a.score, -1), a.created_at, a.subject limit $7`,
    [
      filter.capability ?? null,
      filter.service ?? null,
      filter.scoreMin ?? null,
      after?.score ?? null,
      after === undefined ? null : new Date(after.createdAtMs),
      after?.subject ?? null,
      filter.limit + 1,
    ],
  )
  const page = rows.slice(0, filter.limit)
  const last = page.at(-1)
  return {
    agents: page.map(({ subject, version, score, document, updated_at }) => ({
      subject,
      version,
      score,
      declaration: document,
      updatedAt: updated_at,
    })),
    nextCursor: rows.length > filter.limit && last ? cursorOf(last) : null,
  }
}

const cursorOf = (row: Row) =>
  Buffer.from(`${row.score ?? -1} ${row.created_at.getTime()} ${row.subject}`).toString('base64url')

export function parseCursor(text: string): { score: number; createdAtMs: number; subject: string } | undefined {
  const [, score, at, subject] =
    /^(-1|\d{1,3}) (\d{1,14}) ((?:eip155:\d{1,15}:)?0x[0-9a-f]{40})$/.exec(
      Buffer.from(text, 'base64url').toString('latin1'),
    ) ?? []
  if (score === undefined || subject === undefined) return undefined
  return { score: Number(score), createdAtMs: Number(at), subject }
}
