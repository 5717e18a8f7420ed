import { writeAudit } from '@assay/till/store/audit-log'
import type { Database } from '@assay/till/store/database'

export const disputeStates = ['received', 'pending', 'upheld', 'rejected'] as const
export type DisputeState = (typeof disputeStates)[number]
export type DisputeDecision = Exclude<DisputeState, 'received'>

export type DisputeRow = {
  id: string
  domain: string
  kind: string
  claim_id: string | null
  statement: string
  evidence_url: string | null
  contact: string | null
  signed_by: string | null
  state: DisputeState
  outcome: string | null
  opened_at: Date
  notice_until: Date | null
  closed_at: Date | null
}

/** For the operator: those that owners signed, then the others, oldest first. Default: those that wait. */
export async function listDisputes(
  database: Database,
  filter: { state?: DisputeState | undefined; domain?: string | undefined } = {},
): Promise<DisputeRow[]> {
  const { rows } = await database.query<DisputeRow>(
    `select id, domain, kind, claim_id, statement, evidence_url, contact, signed_by, state, outcome, opened_at, notice_until, closed_at
     from source_dispute
     where ($2::text is null or domain = $2) and case when $1::text is null then state in ('received', 'pending') else state = $1 end
     order by signed_by is null, opened_at, id limit 500`,
    [filter.state ?? null, filter.domain ?? null],
  )
  return rows
}

/**
 * The operator takes a contest up (then the score is halved while it is pending), upholds it (then usage quality falls)
 * or rejects it. Who owns a domain is not the operator's to decide: those contests end by proof.
 */
export async function decideDispute(
  database: Database,
  input: { id: string; decision: DisputeDecision; reason: string; actor: string },
): Promise<{ status: 'decided'; dispute: DisputeRow } | { status: 'impossible'; detail: string }> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<DisputeRow>('select * from source_dispute where id = $1 for update', [input.id])
    const [dispute] = rows
    if (!dispute) return impossible(`there is no dispute ${input.id}`)
    if (dispute.claim_id !== null)
      return impossible('this contest of ownership is decided by proof when its notice ends')
    if (dispute.state === 'upheld' || dispute.state === 'rejected')
      return impossible(`the dispute was ${dispute.state} before`)
    const closed = input.decision !== 'pending'
    const changed = await tx.query<DisputeRow>(
      `update source_dispute set state = $2, outcome = $3, closed_at = case when $4 then now() end where id = $1 returning *`,
      [input.id, input.decision, input.reason, closed],
    )
    await tx.query('update source set score_wanted_at = coalesce(score_wanted_at, now()) where domain = $1', [
      dispute.domain,
    ])
    await writeAudit(tx, {
      actor: input.actor,
      action: `source.dispute.${input.decision}`,
      subject: dispute.domain,
      details: { dispute: input.id, reason: input.reason },
    })
    const [row] = changed.rows
    if (!row) throw new Error('the dispute vanished under its lock')
    return { status: 'decided', dispute: row }
  })
}

const impossible = (detail: string) => ({ status: 'impossible' as const, detail })
