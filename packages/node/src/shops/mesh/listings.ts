import { isRecord } from '@assay/protocol/json-object'
import { type NodeAddress, parseNodeAddress } from '@assay/protocol/mesh/node-address'
import type { MeshStatement } from '@assay/protocol/mesh/read-statement'
import { exampleUrlOf } from '@assay/protocol/mesh/statement'
import { recordCandidates } from './candidate-store.ts'
import type { MeshDeps } from './deps.ts'
import { manifestBytesMax, newPerVisitMax } from './limits.ts'
import type { SeenPeer } from './mesh-view.ts'
import { fetchJson } from './peer-fetcher.ts'

const originsMax = 64
const urlsMax = 4_096

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value.slice(0, urlsMax) : [])

/** Every URL that a Bazaar listing, an ERC-8004 registration file or an A2A card offers something at. */
function urlsIn(document: Record<string, unknown>): unknown[] {
  const resources = [...list(document.items), ...list(document.resources)].map((item) => {
    if (!isRecord(item)) return item
    return isRecord(item.resource) ? item.resource.url : item.resource
  })
  const services = [...list(document.services), ...list(document.endpoints)].map((one) => isRecord(one) && one.endpoint)
  const interfaces = [...list(document.supportedInterfaces), ...list(document.additionalInterfaces)]
  return [document.url, ...resources, ...services, ...interfaces.map((one) => isRecord(one) && one.url)]
}

/** The origins that a document of another directory names. They are worth a visit; nothing else is believed of them. */
export function originsIn(document: unknown): NodeAddress[] {
  if (!isRecord(document)) return []
  const found = new Map<string, NodeAddress>()
  for (const url of urlsIn(document)) {
    const address = typeof url === 'string' && URL.canParse(url) ? parseNodeAddress(new URL(url).origin) : undefined
    if (address !== undefined && found.size < originsMax) found.set(address.did, address)
  }
  return [...found.values()]
}

/** Notes those that the configured listings name as candidates, as if a peer had named them. */
export async function readListings(deps: MeshDeps, signal: AbortSignal): Promise<void> {
  const { settings, database, clock } = deps
  for (const url of settings.listings) {
    const answer = await fetchJson(deps.fetcher, url, manifestBytesMax, signal)
    if (!answer.ok) deps.log.info({ url, problem: answer.reason }, 'a listing of nodes cannot be read')
    const limits = {
      ...{ nowMs: clock.nowMs(), retryMs: settings.visitEveryMs * 2, candidatesMax: settings.candidatesMax },
      perNamerMax: newPerVisitMax,
    }
    const origins = answer.ok ? originsIn(answer.value) : []
    const named = origins.filter(({ did }) => did !== deps.self.did).map((origin) => ({ ...origin, sequence: 0 }))
    await recordCandidates(database, named, { ...limits, foundBy: 'gossip', namedBy: url })
  }
}

type Listed = Pick<SeenPeer, 'did' | 'recommended'> & { content: MeshStatement }

/** As indexers of x402 resources list them. */
export function bazaarItems(peers: readonly Listed[]) {
  return peers.flatMap(({ did, recommended, content }) =>
    content.offers
      .filter(({ price_micro }) => price_micro !== '0')
      .map((offer) => ({
        resource: exampleUrlOf(content, offer),
        type: 'http',
        x402Version: 2,
        accepts: (offer.networks ?? []).map((network) => ({
          scheme: 'exact',
          network,
          amount: offer.price_micro,
          asset: content.networks.find((one) => one.network === network)?.asset ?? '',
        })),
        lastUpdated: content.issued_at,
        metadata: {
          did,
          capability: offer.capability,
          method: offer.method,
          schema: offer.schema ?? null,
          recommended,
        },
      })),
  )
}

/** As A2A cards. */
export function agentCards(peers: readonly Listed[]) {
  return peers.map(({ content }) => ({
    name: content.name,
    description: 'A node that sells signed answers, paid per call with x402.',
    version: content.protocol,
    supportedInterfaces: [{ url: content.address, protocolBinding: 'urn:x402:http:2', protocolVersion: '1.0' }],
    capabilities: { streaming: false, pushNotifications: false },
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: [...new Set(content.offers.map((offer) => offer.capability))].map((id) => ({
      ...{ id, name: id, description: id, tags: [id.split('.')[0] ?? id] },
    })),
  }))
}

/** As ERC-8004 registration files; a node that is registered names its registrations itself. */
export function registrationFiles(peers: readonly Listed[]) {
  return peers.map(({ did, content }) => ({
    type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
    name: content.name,
    description: 'A node that sells signed answers, paid per call with x402.',
    services: [
      { name: 'web', endpoint: `${content.base_url}/` },
      { name: 'x402', endpoint: `${content.address}/.well-known/x402`, version: '2' },
      { name: 'DID', endpoint: did, version: 'v1' },
    ],
    x402Support: true,
    active: true,
    registrations: [],
  }))
}
