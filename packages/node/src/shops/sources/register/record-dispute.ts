import type { Address } from '@assay/protocol/address'
import { Problem } from '@assay/till/kernel/problem'
import type { SourceDeps } from '../deps.ts'
import { claimOfWallet } from './verify-source.ts'

export type DisputeInput = {
  domain: string
  kind: 'ownership' | 'content' | 'licence' | 'score' | 'other'
  statement: string
  evidenceUrl?: string | undefined
  contact?: string | undefined
  /** The wallet that signed the request. */
  signedBy?: Address | undefined
}

const receivedMax = 200
const receivedOfClaimMax = 20

/**
 * A wallet whose proof was found has its own places, so that strangers cannot fill the queue before it.
 * Words and evidence only: it changes neither state nor score until a proof or the operator makes it pending.
 */
export async function recordDispute(deps: SourceDeps, input: DisputeInput): Promise<{ id: string; openedAt: Date }> {
  const openedAt = new Date(deps.clock.nowMs())
  const claim = input.signedBy && (await claimOfWallet(deps, input.domain, input.signedBy))
  const signedBy = claim?.wallet ?? null
  const { rows } = await deps.database.query<{ waiting: bigint }>(
    `select count(*) as waiting from source_dispute
     where domain = $1 and state = 'received' and signed_by is not distinct from $2`,
    [input.domain, signedBy],
  )
  if (Number(rows[0]?.waiting ?? 0) >= (signedBy === null ? receivedMax : receivedOfClaimMax))
    throw new Problem('rate_limited', {
      detail: 'Too many disputes about this domain wait to be read.',
      retryAfterSeconds: 3_600,
    })
  const id = deps.ids.next('dsp')
  await deps.database.query(
    `insert into source_dispute (id, domain, kind, statement, evidence_url, contact, state, opened_at, signed_by)
     values ($1, $2, $3, $4, $5, $6, 'received', $7, $8)`,
    [
      id,
      input.domain,
      input.kind,
      input.statement,
      input.evidenceUrl ?? null,
      input.contact ?? null,
      openedAt,
      signedBy,
    ],
  )
  return { id, openedAt }
}
