import { toHex } from '@assay/protocol/bytes'
import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import type { JwsPort } from '@assay/till/internal'
import { sha256 } from '@assay/till/kernel/bytes'
import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Tx } from '@assay/till/store/database'

export type PreviousScore = { seq: number; score: number; components: Json; jws: string }
export type NewScore = { score: number; confidence: number; components: Json; modelVersion: string }
export type ScoreDraft = NewScore & {
  domain: string
  seq: number
  evidenceSha256: Buffer
  previousSha256: Buffer | null
  jws: string
  computedAt: Date
}

export async function newestScore(tx: Tx, domain: string): Promise<PreviousScore | undefined> {
  const { rows } = await tx.query<PreviousScore>(
    'select seq, score, components, jws from source_score where domain = $1 order by seq desc limit 1',
    [domain],
  )
  return rows[0]
}

const digestOf = (components: Json) => sha256(canonicalJson(withoutTimes(components)))

/** The history is of changes: what was checked again and found the same is no new row. */
export function sameScore(previous: PreviousScore, next: NewScore): boolean {
  return previous.score === next.score && digestOf(previous.components).equals(digestOf(next.components))
}

/** Signed, and naming the digest of the row before it, so that no row can be removed or inserted later. */
export function draftScore(
  signer: JwsPort,
  domain: string,
  next: NewScore,
  previous: PreviousScore | undefined,
  nowMs: number,
): ScoreDraft {
  const seq = (previous?.seq ?? 0) + 1
  const evidenceSha256 = digestOf(next.components)
  const previousSha256 = previous ? sha256(previous.jws) : null
  const jws = signer.sign({
    type: 'citescore',
    domain,
    seq,
    score: next.score,
    confidence: next.confidence,
    model_version: next.modelVersion,
    values: valuesOf(next.components),
    evidence_sha256: toHex(evidenceSha256),
    previous_sha256: previousSha256 ? toHex(previousSha256) : null,
    computed_at: toRfc3339(nowMs),
  })
  return { ...next, domain, seq, evidenceSha256, previousSha256, jws, computedAt: new Date(nowMs) }
}

/** Any number in two statements. */
export async function insertScores(tx: Tx, drafts: readonly ScoreDraft[]): Promise<void> {
  if (drafts.length === 0) return
  const column = <T>(of: (draft: ScoreDraft) => T) => drafts.map(of)
  await tx.query(
    `insert into source_score (domain, seq, score, confidence, model_version, components, evidence_sha256, previous_sha256, jws, computed_at)
     select domain, seq, score, confidence, model_version, components::jsonb, decode(evidence, 'hex'), decode(previous, 'hex'), jws, computed_at
     from unnest($1::text[], $2::integer[], $3::smallint[], $4::real[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::timestamptz[])
       as t(domain, seq, score, confidence, model_version, components, evidence, previous, jws, computed_at)`,
    [
      column((draft) => draft.domain),
      column((draft) => draft.seq),
      column((draft) => draft.score),
      column((draft) => draft.confidence),
      column((draft) => draft.modelVersion),
      column((draft) => JSON.stringify(draft.components)),
      column((draft) => draft.evidenceSha256.toString('hex')),
      column((draft) => draft.previousSha256?.toString('hex') ?? null),
      column((draft) => draft.jws),
      column((draft) => draft.computedAt),
    ],
  )
  await tx.query(
    `update source s set cite_score = t.score, confidence = t.confidence, scored_at = t.computed_at
     from unnest($1::text[], $2::smallint[], $3::real[], $4::timestamptz[]) as t(domain, score, confidence, computed_at)
     where s.domain = t.domain`,
    [
      column((draft) => draft.domain),
      column((draft) => draft.score),
      column((draft) => draft.confidence),
      column((draft) => draft.computedAt),
    ],
  )
}

type Parts = { components: { id: string; value: number }[]; gate: { value: number } }

const valuesOf = (document: Json): Json => {
  const { components, gate } = document as unknown as Parts
  return { ...Object.fromEntries(components.map((part) => [part.id, part.value])), gate: gate.value }
}

/** When something was checked again without a change, nothing changed. */
function withoutTimes(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => withoutTimes(item as Json))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value as Record<string, Json>)
      .filter(([key]) => key !== 'checked_at' && key !== 'sha256')
      .map(([key, item]) => [key, withoutTimes(item)]),
  )
}
