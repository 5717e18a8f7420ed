import { Problem } from '../../kernel/problem.ts'
import type { SourceDeps } from '../deps.ts'

export type DisputeInput = {
  domain: string
  kind: 'ownership' | 'content' | 'licence' | 'score' | 'other'
  statement: string
  evidenceUrl?: string | undefined
  contact?: string | undefined
}

const receivedMax = 200

/** Words and evidence only: it changes neither state nor score until a proof or the operator makes it pending. */
export async function recordDispute(deps: SourceDeps, input: DisputeInput): Promise<{ id: string; openedAt: Date }> {
  const openedAt = new Date(deps.clock.nowMs())
  const { rows } = await deps.database.query<{ waiting: bigint }>(
    `select count(*) as waiting from source_dispute where domain = $1 and state = 'received'`,
    [input.domain],
  )
  if (Number(rows[0]?.waiting ?? 0) >= receivedMax)
    throw new Problem('rate_limited', {
      detail: 'Too many disputes about this domain wait to be read.',
      retryAfterSeconds: 3_600,
    })
  const id = deps.ids.next('dsp')
  await deps.database.query(
    `insert into source_dispute (id, domain, kind, statement, evidence_url, contact, state, opened_at)
     values ($1, $2, $3, $4, $5, $6, 'received', $7)`,
    [id, input.domain, input.kind, input.statement, input.evidenceUrl ?? null, input.contact ?? null, openedAt],
  )
  return { id, openedAt }
}
