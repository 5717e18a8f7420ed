import { cosignedAt, parseCheckpoint } from '@assay/protocol/log/checkpoint'
import { type NoteKey, parseSignatureLine } from '@assay/protocol/log/signed-note'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Database } from '@assay/till/store/database'
import type { TransparencyLog } from './open-log.ts'
import { newestCheckpoint, type StoredCheckpoint } from './store.ts'
import { addCheckpointBody, type WitnessAnswer } from './witness.ts'

/** Somebody who watches the log, however it is reached. */
export type WitnessPeer = {
  key: NoteKey
  /** What it has seen is in the database of the log itself: a restore takes it back with the rest. */
  inside?: boolean
  /** A node of the mesh that nobody configured: its cosignature is kept, and counts for nothing here. */
  peer?: boolean
  addCheckpoint(body: string): Promise<WitnessAnswer>
  /** The head of a log that it cosigned last, where it can be asked for it. */
  readHead?(origin: string): Promise<string | undefined>
}

export type CollectDeps = { database: Database; log: Log; metrics: Metrics; tree: TransparencyLog }

export type CollectOutcome =
  | { outcome: 'signed'; size: number }
  /** It has signed a tree of `size` that ours does not extend. */
  | { outcome: 'contradicted'; size: number; larger: boolean; reason: string }
  /** `isNew`: it answered that it has never heard of this log. */
  | { outcome: 'refused'; reason: string; isNew?: boolean }

/**
 * Shows the newest tree head to every witness. One that is away is asked again the next time. `again` asks those too that
 * are known to have signed it: after a restore what is known of them may be old.
 */
export async function collectCosignatures(
  deps: CollectDeps,
  witnesses: readonly WitnessPeer[],
  { again = false } = {},
): Promise<CollectOutcome[]> {
  const newest = await newestCheckpoint(deps.database)
  if (!newest && !again) return []
  return Promise.all(
    witnesses.map(async (witness) => {
      const answer = await (newest ? askWitness(deps, witness, newest, again) : askEmpty(deps, witness)).catch(
        (error: unknown) => refused(String(error).slice(0, 200)),
      )
      deps.metrics.count('log_cosignatures', { outcome: answer.outcome })
      if (answer.outcome !== 'signed') deps.log.warn({ witness: witness.key.name, ...answer }, 'a witness did not sign')
      return answer
    }),
  )
}

const notSigned = ({ status, body }: WitnessAnswer): CollectOutcome => ({
  outcome: 'refused',
  reason: `answered ${status}: ${body.slice(0, 100)}`,
  ...(status === 404 ? { isNew: true } : {}),
})
const refused = (reason: string): CollectOutcome => ({ outcome: 'refused', reason })

export async function askWitness(
  deps: CollectDeps,
  witness: WitnessPeer,
  newest: StoredCheckpoint,
  again = false,
): Promise<CollectOutcome> {
  const { rows } = await deps.database.query<{ size: bigint | null }>(
    'select max(size) as size from log_cosignature where witness = $1',
    [witness.key.name],
  )
  let from = Number(rows[0]?.size ?? 0)
  if (from === newest.size && !again) return { outcome: 'signed', size: newest.size }
  let answer = await submit(deps, witness, from, newest)
  // It may have signed for us before without our having kept it, or start again: it says from where to prove.
  if (answer.status === 409 && /^(?:0|[1-9][0-9]{0,15})\n$/.test(answer.body)) {
    from = Number(answer.body)
    if (from > newest.size) return larger(deps, from)
    answer = await submit(deps, witness, from, newest)
  }
  if (answer.status === 200) return keep(deps, witness, newest, answer.body)
  // The sizes fit and the trees do not.
  if (answer.status === 422 || (answer.status === 409 && !isSize(answer)))
    return { outcome: 'contradicted', size: from, larger: false, reason: `has signed another tree of size ${from}` }
  return notSigned(answer)
}

/** A log that has signed nothing may have had another database: the witness knows. */
async function askEmpty(deps: CollectDeps, witness: WitnessPeer): Promise<CollectOutcome> {
  const answer = await witness.addCheckpoint(addCheckpointBody(0, [], deps.tree.emptyHead()))
  if (answer.status === 200) return { outcome: 'signed', size: 0 }
  if (answer.status === 409 && /^[1-9][0-9]{0,15}\n$/.test(answer.body)) return larger(deps, Number(answer.body))
  return notSigned(answer)
}

const isSize = ({ contentType }: WitnessAnswer) => contentType.startsWith('text/x.tlog.size')

/** Another process may have shown it a head that was signed since. */
async function larger({ database }: CollectDeps, size: number): Promise<CollectOutcome> {
  const now = await newestCheckpoint(database)
  if (now && now.size >= size) return refused('has been shown a newer head meanwhile')
  const reason = `has signed a tree of size ${size}, and ours has ${now?.size ?? 0}`
  return { outcome: 'contradicted', size, larger: true, reason }
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
): Promise<CollectOutcome> {
  const text = parseCheckpoint(newest.note)?.text ?? ''
  for (const line of lines.split('\n').filter(Boolean)) {
    const signature = parseSignatureLine(line)
    const seconds = signature && (await cosignedAt(text, signature, witness.key))
    if (!signature || seconds === undefined) continue
    // A peer that dates its word back would make a head of a lost key look as if it had been seen before the loss.
    if (witness.peer && !(await isNow(database, seconds))) return refused('gave a signature of another time')
    await database.query(
      `insert into log_cosignature (size, witness, line, cosigned_at, vkey, peer) values ($1, $2, $3, $4, $5, $6)
       on conflict do nothing`,
      [
        newest.size,
        witness.key.name,
        signature.line,
        new Date(seconds * 1000),
        witness.key.vkey,
        witness.peer === true,
      ],
    )
    return { outcome: 'signed', size: newest.size }
  }
  return refused('gave a signature that is not its own')
}

const driftSecondsMax = 300

/** By the clock of the database, which says when a key was lost. */
async function isNow(database: Database, seconds: number): Promise<boolean> {
  const { rows } = await database.query<{ now: boolean }>(
    'select abs(extract(epoch from clock_timestamp()) - $1::double precision) <= $2 as now',
    [seconds, driftSecondsMax],
  )
  return rows[0]?.now === true
}
