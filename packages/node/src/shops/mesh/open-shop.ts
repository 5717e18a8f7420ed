import { checksumAddress } from '@assay/protocol/address'
import { didWeb } from '@assay/protocol/did'
import { type NodeAddress, parseNodeAddress } from '@assay/protocol/mesh/node-address'
import type { MeshOffer } from '@assay/protocol/mesh/read-statement'
import { createResponseSigner } from '@assay/till/signing'
import { nodeSite, type RouteDeclaration } from '../../http/index.ts'
import { createDnsResolver, type LoopbackTarget, publicAddresses } from '../../outbound/index.ts'
import { agentDeclarations, meshNodes, peerLogs, peerReader, registeredAgents, relatedParties } from '../ports.ts'
import { type Announcements, declareShop, type OpenShop, type Shop, type ShopContext } from '../shop.ts'
import type { MeshDeps } from './deps.ts'
import { createDnsSeeds } from './dns-seeds.ts'
import { findMeshNode } from './find-node.ts'
import { createMeshViews } from './mesh-view.ts'
import { ownOffers } from './own-offers.ts'
import { createPeerFetcher, type PeerFetcher } from './peer-fetcher.ts'
import { createPeerFinder } from './peer-finder.ts'
import { createPeerLogs } from './peer-logs.ts'
import { createPeerReader } from './peer-reader.ts'
import { meshRetention } from './retention.ts'
import { meshRoutes } from './routes.ts'
import { createRounds } from './run-round.ts'
import { type MeshSettings, meshSettings, meshVariables, parseMeshDomains, parseMeshPeers } from './settings.ts'
import { createStrangerLimit } from './stranger-limit.ts'

export type MeshShopOptions = {
  /** Nodes to join. */
  peers: readonly NodeAddress[]
  /** Domains whose SRV records name nodes to join. */
  domains?: readonly string[]
  settings: MeshSettings
  /** Names under `.test` that a demo node asks at loopback. */
  demoHosts: ReadonlyMap<string, LoopbackTarget>
  dnsServers: readonly string[]
  contactEmail: string
  /** Tests cut connections between nodes here. */
  intercept?(fetch: PeerFetcher['fetch']): PeerFetcher['fetch']
}

export const meshShop = declareShop({
  name: 'mesh',
  variables: meshVariables,
  migrations: [new URL('./migrations/', import.meta.url)],
  retention: meshRetention,
  configure: ({ MESH, MESH_PEERS, MESH_DNS }, { demo, demoHosts, dnsServers, contactEmail }) => {
    const mode = demo ? 'demo' : 'production'
    const settings = meshSettings(MESH, mode)
    const peers = parseMeshPeers(MESH_PEERS, mode)
    const domains = parseMeshDomains(MESH_DNS)
    return openMeshShop({ peers, domains, settings, demoHosts, dnsServers, contactEmail })
  },
})

/** Area C: finding other nodes and being found. */
export function openMeshShop(options: MeshShopOptions): OpenShop {
  return (context) => {
    const { baseUrl, apiUrl } = context
    const site = nodeSite({ baseUrl, apiUrl, contactEmail: options.contactEmail, contentLicense: '' })
    let offers: readonly MeshOffer[] = []
    let announced: () => Announcements = () => ({})
    const deps = { ...createMeshDeps(context, options, () => offers), announced: () => announced() }
    const views = createMeshViews(deps)
    const rounds = createRounds(deps, views)
    context.ports.offer(meshNodes, { find: findMeshNode })
    context.ports.offer(peerReader, createPeerReader(deps))
    context.ports.offer(peerLogs, createPeerLogs(deps))
    const strangers = createStrangerLimit(context.clock, deps.settings.strangersPerMinute)
    return {
      routes: meshRoutes(deps, views, { strangers, silence: rounds.silence }),
      onRoutes: (routes: readonly RouteDeclaration[], announcements: () => Announcements) => {
        offers = ownOffers(site, routes)
        announced = announcements
      },
      findPeer: createPeerFinder(views.latest),
      // Due visits are taken row by row, so every process may make its rounds under its own name.
      jobs: [
        {
          name: roundName(deps),
          intervalMs: Math.max(50, deps.settings.visitEveryMs / 2),
          work: rounds.run,
          ...(isAlone(deps, options) ? { due: aloneDueSql } : {}),
        },
      ],
      stop: rounds.stop,
    } satisfies Shop
  }
}

/** A node that was given nobody to join waits until somebody finds it. */
const isAlone = ({ seeds, settings }: MeshDeps, { domains = [] }: MeshShopOptions) =>
  seeds.length === 0 && domains.length === 0 && settings.listings.length === 0
const aloneDueSql = `exists (select from mesh_peer) or exists (select from mesh_seed)`

const roundName = ({ rng }: MeshDeps) => `mesh.round.${Buffer.from(rng.bytes(2)).readUInt16BE() % 1_000}`

export function createMeshDeps(
  context: ShopContext,
  options: MeshShopOptions,
  offers: () => readonly MeshOffer[],
): MeshDeps {
  const { clock, rng, log, metrics, mode, keyring } = context
  const { settings } = options
  const { origin, host } = new URL(context.apiUrl)
  const resolvers = options.dnsServers.map((server) => createDnsResolver({ server, clock, rng }))
  // A name that no peer would ask, such as localhost, is still a name to sign under.
  const self = parseNodeAddress(origin) ?? { origin, did: didWeb(host) }
  return {
    database: context.database,
    clock,
    rng,
    log,
    metrics,
    keyring,
    signer: createResponseSigner(keyring, { clock }),
    claimNonce: context.proofs.claimNonce,
    settings,
    seeds: options.peers,
    dnsSeeds: createDnsSeeds({ names: options.domains ?? [], resolvers, clock, log }),
    self: {
      ...self,
      baseUrl: new URL(context.baseUrl).origin,
      name: 'Assay',
      networks: context.networks.map(({ caip2, usdc }) => ({
        network: caip2,
        asset: checksumAddress(usdc.address),
      })),
    },
    offers,
    // A shop opened later may offer these.
    registeredSql: (wallet) => context.ports.find(registeredAgents)?.registeredSql(wallet) ?? 'false',
    relatedParties: async (sql, wallets) => (await context.ports.find(relatedParties)?.(sql, wallets)) ?? new Map(),
    newestDeclarationMs: async () => (await context.ports.find(agentDeclarations)?.newestMs()) ?? 0,
    takeDeclaration: async (value, via) => context.ports.find(agentDeclarations)?.take(value, via),
    fetcher: createPeerFetcher({
      mode,
      resolvers,
      clock,
      log,
      metrics,
      userAgent: `AssayMesh/1.0 (+${self.origin}; ${options.contactEmail})`,
      ownHosts: [context.baseUrl, context.apiUrl].map((url) => new URL(url).hostname),
      ownAddresses: publicAddresses(),
      demoHosts: options.demoHosts,
      loopbackPorts: settings.loopbackPorts,
      timeoutMs: settings.visitTimeoutMs,
      ...(options.intercept === undefined ? {} : { intercept: options.intercept }),
    }),
  }
}
