import type { Sql } from '@assay/till/store/database'
import type { Variant } from '../licences/licence-policy.ts'
import type { Snapshot } from './snapshot.ts'

/** Notes what was served and from which files. Several processes make the same snapshot: the first one notes it. */
export async function recordSnapshot(
  sql: Sql,
  snapshot: Snapshot,
  input: { variant: Variant; knownAtMs: number; madeAtMs: number },
): Promise<void> {
  const { manifest } = snapshot
  await sql.query(
    `insert into matrix_snapshot (feed, variant, method, known_at, as_of, available_at, made_at, sha256, row_count,
       coverage_pct, inputs, synthetic)
     values ($1, $2, $3, $4, $5, $6, $7, decode($8, 'hex'), $9, $10, $11, $12)
     on conflict (feed, variant, sha256) do nothing`,
    [
      manifest.feed,
      input.variant,
      manifest.method,
      new Date(input.knownAtMs),
      manifest.as_of,
      manifest.available_at,
      new Date(input.madeAtMs),
      snapshot.sha256,
      manifest.row_count,
      manifest.coverage_pct,
      JSON.stringify(manifest.inputs),
      manifest.synthetic,
    ],
  )
}
