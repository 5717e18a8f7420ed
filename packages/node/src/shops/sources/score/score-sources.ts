import type { Json } from '@assay/protocol/canonical-json'
import type { SourceDeps } from '../deps.ts'
import { externalValue } from './components.ts'
import { computeScore, type Score } from './compute-score.ts'
import { type GatheredEvidence, gatherEvidence } from './gather-evidence.ts'
import { draftScore, insertScores, newestScore, sameScore } from './score-history.ts'

const batchMax = 200
export const scoreDueSql = 'exists (select from source where score_wanted_at is not null)'

/** Scores every source that requested it. Returns how many were read. */
export async function scoreSources(deps: SourceDeps, only?: readonly string[]): Promise<number> {
  const { rows } = await deps.database.query<{ domain: string }>(
    `select domain from source where score_wanted_at is not null and ($2::text[] is null or domain = any($2))
     order by score_wanted_at limit $1`,
    [batchMax, only ?? null],
  )
  if (rows.length === 0) return 0
  const gathered = await gatherEvidence(
    deps.database,
    deps.clock,
    rows.map((row) => row.domain),
  )
  for (const one of gathered) await storeScore(deps, one, computeScore(one.evidence))
  return rows.length
}

async function storeScore(deps: SourceDeps, { evidence, wantedAt }: GatheredEvidence, score: Score): Promise<void> {
  await deps.database.transaction(async (tx) => {
    // The row lock orders scorers; the second finds the request done and stores nothing.
    const { rows } = await tx.query<{ score_wanted_at: Date | null }>(
      'select score_wanted_at from source where domain = $1 for update',
      [evidence.domain],
    )
    if (rows[0]?.score_wanted_at?.getTime() !== wantedAt?.getTime()) return
    await tx.query('update source set score_wanted_at = null where domain = $1', [evidence.domain])
    const components = documentOf(score)
    const previous = await newestScore(tx, evidence.domain)
    const authority = score.components.find((part) => part.id === 'authority')
    await tx.query(
      `insert into score_parts (domain, rest, gate, external, authority) values ($1, $2, $3, $4, $5)
       on conflict (domain) do update set rest = excluded.rest, gate = excluded.gate, external = excluded.external, authority = excluded.authority`,
      [
        evidence.domain,
        score.components
          .filter((part) => part.id !== 'authority')
          .reduce((sum, part) => sum + part.weight * part.value, 0),
        score.gate.value,
        externalValue(evidence.external) ?? null,
        authority?.value ?? 0,
      ],
    )
    const next = { score: score.score, confidence: score.confidence, components, modelVersion: score.modelVersion }
    const now = new Date(deps.clock.nowMs())
    await tx.query('update source set cite_score = $2, confidence = $3, scored_at = $4 where domain = $1', [
      evidence.domain,
      next.score,
      next.confidence,
      now,
    ])
    if (previous && sameScore(previous, next)) return
    await insertScores(tx, [draftScore(deps.jws, evidence.domain, next, previous, now.getTime())])
  })
}

const short = (value: number) => Math.round(value * 10_000) / 10_000

/** What is stored and shown: components with their signals, gate and advice. */
export function documentOf(score: Score): Json {
  return {
    components: score.components.map((part) => ({
      id: part.id,
      value: short(part.value),
      weight: part.weight,
      known: short(part.known),
      signals: part.signals.map((signal) => ({
        id: signal.id,
        weight: signal.weight,
        value: signal.value === undefined ? null : short(signal.value),
        prior: short(signal.prior),
        known: signal.value !== undefined,
      })),
      evidence: part.signals.flatMap((signal) =>
        (signal.evidence ?? []).map((item) => ({
          what: item.what,
          url: item.url,
          sha256: item.sha256 ?? null,
          checked_at: item.checkedAt ?? null,
        })),
      ),
    })),
    gate: { value: short(score.gate.value), reason: score.gate.reason },
    evidence_count: score.evidenceCount,
    advice: score.advice.map((entry) => ({
      component: entry.component,
      signal: entry.signal,
      advice: entry.advice,
      points: entry.points,
    })),
  }
}
