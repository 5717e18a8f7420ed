import { didWeb } from '@assay/protocol/did'
import { didDocument } from '@assay/till/signing'
import { nodeServices } from '../../../http/index.ts'
import type { MeshNodeView } from '../../ports.ts'
import type { IdentityDeps } from '../deps.ts'

/** The documents of nodes: this one from its own keys, others from what the mesh has verified of them. */
export async function webDocument(
  deps: Pick<IdentityDeps, 'database' | 'keyring' | 'clock' | 'baseUrl' | 'apiUrl' | 'ports'>,
  canonical: string,
): Promise<{ document: Record<string, unknown>; updatedAtMs?: number } | undefined> {
  const own = [deps.baseUrl, deps.apiUrl].map((url) => new URL(url).host).find((host) => didWeb(host) === canonical)
  if (own !== undefined) {
    const document = didDocument(deps.keyring, own, deps.clock.nowMs())
    return { document: { ...document, service: nodeServices(canonical, deps.baseUrl) } }
  }
  const peer = await deps.ports.meshNodes.find(deps.database, canonical, deps.clock.nowMs())
  return peer === undefined ? undefined : { document: peerDocument(peer), updatedAtMs: peer.seenAtMs }
}

function peerDocument({ did, url, keys }: MeshNodeView): Record<string, unknown> {
  const ids = keys.map((key) => `${did}#${key.keyId}`)
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id: did,
    verificationMethod: keys.map(({ keyId, x }) => ({
      id: `${did}#${keyId}`,
      type: 'JsonWebKey2020',
      controller: did,
      publicKeyJwk: { kty: 'OKP', crv: 'Ed25519', kid: keyId, x },
    })),
    assertionMethod: ids,
    authentication: ids,
    service: nodeServices(did, url),
  }
}
