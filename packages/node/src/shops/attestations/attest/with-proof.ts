import type { ReleaseAnswer } from '@assay/till/internal'
import { proofAfterCommit } from '../../../tlog/index.ts'
import type { AttestDeps } from './deps.ts'
import { withKeys } from './describe-attestation.ts'

type ProofDeps = Pick<AttestDeps, 'tree' | 'clock' | 'log'> & { witnessKeys(): readonly string[] }

/** The entry gets its place in the log right after the commit; the answer waits for it and carries the proof. */
export function withProof(deps: ProofDeps): ReleaseAnswer {
  return async (answer) => {
    try {
      const view = JSON.parse(Buffer.from(answer.body).toString('utf8')) as { id: string; url: string }
      const proof = await proofAfterCommit(deps, view.id)
      // What was bought is valid without it, and its own address returns the proof soon after.
      if (!proof) deps.log.warn({ entry: view.id }, 'a proof from the log was not ready')
      return { ...answer, body: JSON.stringify({ ...view, log: withKeys(deps, view.url, proof) }) }
    } catch (error) {
      // It is paid for: whatever it is, it is given.
      deps.log.error({ error: String(error) }, 'a proof could not be put into an answer')
      return answer
    }
  }
}
