import type { AssayClient } from '../client.ts'
import type { CitationAttestation } from './attestation-file.ts'
import { readAttestation } from './cite.ts'

const pauseMs = 500

/** How many signatures of witnesses a file shows. */
export const witnessesOf = ({ log }: CitationAttestation): number => {
  const { witnesses } = log as { witnesses?: unknown }
  return Array.isArray(witnesses) ? witnesses.length : 0
}

/** The attestation as soon as every witness of the log has signed, or as it is when the time is over. */
export async function awaitWitnesses(
  client: AssayClient,
  node: string,
  bought: CitationAttestation,
  waitMs: number,
): Promise<CitationAttestation> {
  const until = performance.now() + waitMs
  for (let best = bought; ; ) {
    const named = best.log.witness_keys?.length ?? 0
    if (named > 0 && witnessesOf(best) >= named) return best
    const left = until - performance.now()
    if (left <= 0) return best
    await new Promise((resolve) => setTimeout(resolve, Math.min(pauseMs, left)))
    // What was bought stands without it.
    const found = await readAttestation(client, node, bought.id).catch(() => undefined)
    if (found && (found.log.state === 'logged' || best.log.state !== 'logged')) best = found
  }
}
