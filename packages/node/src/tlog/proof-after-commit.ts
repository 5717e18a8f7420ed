import type { Clock } from '@assay/till/kernel/clock'
import type { LogProof, TransparencyLog } from './open-log.ts'

export type ProofDeps = { tree: Pick<TransparencyLog, 'integrate' | 'proofOf'>; clock: Clock }

const pausesMs = [0, 50, 250, 1_000]

/**
 * The proof of a committed entry, which gets its index if it has none yet. A short failure of the database is waited out,
 * because a buyer who repeats the request must get the same bytes, with the proof if the first answer had it. Undefined if
 * the failure lasts longer; the entry's own address returns the proof later.
 */
export async function proofAfterCommit({ tree, clock }: ProofDeps, id: string): Promise<LogProof | undefined> {
  for (const pauseMs of pausesMs) {
    if (pauseMs > 0) await clock.sleep(pauseMs)
    const proof = await tree
      .integrate()
      .then(() => tree.proofOf(id, 'first'))
      .catch(() => undefined)
    if (proof) return proof
  }
  return undefined
}
