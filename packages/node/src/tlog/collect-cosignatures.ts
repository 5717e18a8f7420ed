import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Database } from '@assay/till/store/database'
import { cosignedAt, parseCheckpoint } from './checkpoint.ts'
import type { TransparencyLog } from './open-log.ts'
import { type NoteKey, parseSignatureLine } from './signed-note.ts'
import { newestCheckpoint, type StoredCheckpoint } from './store.ts'
import { addCheckpointBody, type WitnessAnswer } from './witness.ts'

/** Somebody who watches the log, however it is reached. */
export type WitnessPeer = { key: NoteKey; addCheckpoint(body: string): Promise<WitnessAnswer> }

export type CollectDeps = { database: Database; log: Log; metrics: Metrics; tree: TransparencyLog }

/** Shows the newest tree head to every witness. One that is away is asked again the next time. */
export async function collectCosignatures(deps: CollectDeps, witnesses: readonly WitnessPeer[]): Promise<void> {
  const newest = await newestCheckpoint(deps.database)
  if (!newest) return
  await Promise.all(
    witnesses.map(async (witness) => {
      const outcome = await ask(deps, witness, newest).catch((error: unknown) => String(error).slice(0, 200))
      deps.metrics.count('log_cosignatures', { outcome: outcome === 'signed' ? 'signed' : 'refused' })
      if (outcome !== 'signed') deps.log.warn({ witness: witness.key.name, outcome }, 'a witness did not sign')
    }),
  )
}

async function ask(deps: CollectDeps, witness: WitnessPeer, newest: StoredCheckpoint): Promise<string> {
  const { rows } = await deps.database.query<{ size: bigint | null }>(
    'select max(size) as size from log_cosignature where witness = $1',
    [witness.key.name],
  )
  const known = Number(rows[0]?.size ?? 0)
  if (known === newest.size) return 'signed'
  let answer = await submit(deps, witness, known, newest)
  // It may have signed for us before without our having kept it, or start anew: it says from where to prove.
  if (answer.status === 409 && /^(?:0|[1-9][0-9]{0,15})\n$/.test(answer.body)) {
    const size = Number(answer.body)
    if (size > newest.size) return `has seen a larger tree (${size})`
    answer = await submit(deps, witness, size, newest)
  }
  if (answer.status !== 200) return `answered ${answer.status}: ${answer.body.slice(0, 100)}`
  return keep(deps, witness, newest, answer.body)
}

async function submit(deps: CollectDeps, witness: WitnessPeer, from: number, newest: StoredCheckpoint) {
  const proof = await deps.tree.consistency(from, newest.size)
  return witness.addCheckpoint(addCheckpointBody(from, proof, newest.note))
}

async function keep(
  { database }: CollectDeps,
  witness: WitnessPeer,
  newest: StoredCheckpoint,
  lines: string,
): Promise<string> {
  const text = parseCheckpoint(newest.note)?.note.text ?? ''
  for (const line of lines.split('\n').filter(Boolean)) {
    const signature = parseSignatureLine(line)
    const seconds = signature && cosignedAt(text, signature, witness.key)
    if (!signature || seconds === undefined) continue
    await database.query(
      `insert into log_cosignature (size, witness, line, cosigned_at) values ($1, $2, $3, $4) on conflict do nothing`,
      [newest.size, witness.key.name, signature.line, new Date(seconds * 1000)],
    )
    return 'signed'
  }
  return 'gave a signature that is not its own'
}
