import { toBase64 } from '@assay/protocol/base64'
import {
  evidenceMessage,
  type MeshEvidence,
  type PriceEvidence,
  type SignedEvidence,
} from '@assay/protocol/mesh/evidence'
import type { ReceivedResponse } from '@assay/protocol/signatures/verify-response'
import type { LocalAccount } from 'viem'
import type { Platform } from '../platform.ts'

export type Reporter = Pick<LocalAccount, 'address' | 'signMessage'>

type Unsigned<T> = T extends MeshEvidence ? Omit<T, 'reporter' | 'reported_at'> : never

const keptHeaders = /^(?:content-(?:type|digest)|signature(?:-input)?|payment-(?:required|response|receipt))$/

/** The part of a response that its signature covers, as evidence for others. */
export function keptResponse({ status, headers, body }: ReceivedResponse): PriceEvidence['response'] {
  const kept = Object.fromEntries([...headers].filter(([name]) => keptHeaders.test(name)))
  return { status, headers: kept, body: toBase64(body ?? new Uint8Array()) }
}

/** Evidence in the name of a buyer: anyone can verify it, and anyone sees which wallet it is of. */
export async function signEvidence(
  reporter: Reporter,
  unsigned: Unsigned<MeshEvidence>,
  platform: Pick<Platform, 'nowMs'>,
): Promise<SignedEvidence> {
  const reported_at = new Date(platform.nowMs()).toISOString()
  const evidence = { ...unsigned, reporter: reporter.address.toLowerCase(), reported_at } as MeshEvidence
  return { ...evidence, signature: await reporter.signMessage({ message: evidenceMessage(evidence) }) }
}

/** Sends evidence to a node, which passes it on. Returns whether it was accepted. */
export async function sendEvidence(
  node: string,
  evidence: SignedEvidence,
  platform: Pick<Platform, 'fetch'>,
): Promise<boolean> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(evidence) }
  const response = await platform.fetch(new Request(`${node}/x402/mesh/evidence`, { redirect: 'error', ...init }))
  await response.body?.cancel()
  return response.ok
}
