import type { CitationAttestation } from '@assay/protocol/evidence/attestation-file'
import type { AssayClient } from '../client.ts'
import { defaultPlatform, type Platform } from '../platform.ts'
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
  platform: Pick<Platform, 'nowMs' | 'sleep'> = defaultPlatform,
): Promise<CitationAttestation> {
  const until = platform.nowMs() + waitMs
  for (let best = bought; ; ) {
    const named = best.log.witness_keys?.length ?? 0
    if (named > 0 && witnessesOf(best) >= named) return best
    const left = until - platform.nowMs()
    if (left <= 0) return best
    await platform.sleep(Math.min(pauseMs, left))
    // The purchase is valid without it.
    const found = await readAttestation(client, node, bought.id).catch(() => undefined)
    if (found && (found.log.state === 'logged' || best.log.state !== 'logged')) best = found
  }
}
