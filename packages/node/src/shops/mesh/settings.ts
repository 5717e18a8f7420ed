import { type NodeAddress, parseNodeAddress } from '@assay/protocol/mesh/node-address'
import { z } from 'zod'
import { parseMembers, SettingsError, type Variables } from '../shop-settings.ts'

/** How eagerly this node keeps up with its peers. Short in a demo, where everything is on one machine. */
export const meshVariables = {
  MESH_PEERS: {
    kind: 'list',
    description:
      'Comma-separated origins of nodes to join, such as `https://api.example.org`; one is enough, the others are found through it. docs/mesh.md.',
    secret: false,
  },
  MESH_DNS: {
    kind: 'list',
    description:
      'Comma-separated domains whose SRV records at `_x402._tcp.<domain>` name nodes to join, as `MESH_PEERS` does; looked up through `DNS_SERVERS`. docs/mesh.md.',
    secret: false,
  },
  MESH: {
    kind: 'json',
    default: '{}',
    description:
      'JSON object with settings of the mesh: how often peers are visited, when they count as dead; docs/mesh.md lists the members.',
    secret: false,
  },
} as const satisfies Variables

export type MeshSettings = {
  visitEveryMs: number
  visitTimeoutMs: number
  deadAfterMs: number
  backoffMaxMs: number
  expireAfterMs: number
  statementSeconds: number
  priceCheckEveryMs: number
  announceEveryMs: number
  peersMax: number
  /** Visits in a minute at most: with more peers each is visited more rarely. */
  visitsPerMinute: number
  evidenceEveryMs: number
  candidatesMax: number
  /** Nodes that answer from one network address; unlimited on one machine. */
  peersPerAddressMax: number
  /** Strangers whose keys are looked up on announcement. */
  strangersPerMinute: number
  loopbackPorts: { from: number; to: number } | undefined
  /** Documents of other directories whose origins are visited. */
  listings: readonly string[]
  listingsEveryMs: number
}

const production: MeshSettings = {
  visitEveryMs: 15_000,
  visitTimeoutMs: 5_000,
  deadAfterMs: 60_000,
  backoffMaxMs: 600_000,
  expireAfterMs: 86_400_000,
  statementSeconds: 900,
  priceCheckEveryMs: 600_000,
  announceEveryMs: 120_000,
  peersMax: 256,
  visitsPerMinute: 128,
  evidenceEveryMs: 60_000,
  candidatesMax: 256,
  peersPerAddressMax: 8,
  strangersPerMinute: 60,
  loopbackPorts: undefined,
  listings: [],
  listingsEveryMs: 3_600_000,
}

const demo: MeshSettings = {
  ...production,
  visitEveryMs: 1_000,
  visitTimeoutMs: 2_500,
  deadAfterMs: 3_000,
  backoffMaxMs: 2_000,
  priceCheckEveryMs: 10_000,
  announceEveryMs: 2_000,
  evidenceEveryMs: 5_000,
  visitsPerMinute: 6_000,
  peersPerAddressMax: 1_000,
  // All nodes of a demo send from one address, and a slow start makes them ask more than once.
  strangersPerMinute: 2_000,
  loopbackPorts: { from: 4020, to: 4059 },
  listingsEveryMs: 10_000,
}

const ms = z.int().min(50).max(86_400_000)
const given = z.strictObject({
  visit_ms: ms.optional(),
  timeout_ms: ms.optional(),
  dead_after_ms: ms.optional(),
  price_check_ms: ms.optional(),
  announce_ms: ms.optional(),
  visits_per_minute: z.int().min(6).max(60_000).optional(),
  peers_max: z.int().min(1).max(10_000).optional(),
  strangers_per_minute: z.int().min(1).max(10_000).optional(),
  listings: z
    .array(z.url({ protocol: /^https?$/ }).max(2_048))
    .max(16)
    .optional(),
  loopback_ports: z
    .string()
    .regex(/^\d{1,5}-\d{1,5}$/, 'must be a range such as 4020-4059')
    .optional(),
})

/** From the JSON of `MESH`. */
export function meshSettings(json: unknown, mode: 'demo' | 'production'): MeshSettings {
  const data = parseMembers('MESH', given, json)
  if (mode === 'production' && data.loopback_ports !== undefined)
    throw new SettingsError(['MESH: loopback_ports is for demo mode, a production node never asks its own machine'])
  const usual = mode === 'demo' ? demo : production
  const [from, to] = (data.loopback_ports ?? '').split('-').map(Number)
  return {
    ...usual,
    visitEveryMs: data.visit_ms ?? usual.visitEveryMs,
    visitTimeoutMs: data.timeout_ms ?? usual.visitTimeoutMs,
    deadAfterMs: data.dead_after_ms ?? usual.deadAfterMs,
    priceCheckEveryMs: data.price_check_ms ?? usual.priceCheckEveryMs,
    announceEveryMs: data.announce_ms ?? usual.announceEveryMs,
    visitsPerMinute: data.visits_per_minute ?? usual.visitsPerMinute,
    peersMax: data.peers_max ?? usual.peersMax,
    listings: data.listings ?? usual.listings,
    strangersPerMinute: data.strangers_per_minute ?? usual.strangersPerMinute,
    loopbackPorts: data.loopback_ports === undefined ? usual.loopbackPorts : { from: Number(from), to: Number(to) },
  }
}

const domainPattern = /^(?=.{1,200}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/

export function parseMeshDomains(domains: readonly string[]): string[] {
  const wrong = domains.filter((domain) => !domainPattern.test(domain.toLowerCase()))
  if (wrong.length > 0)
    throw new SettingsError(wrong.map((domain) => `MESH_DNS: ${domain} is not a domain such as example.org`))
  return domains.map((domain) => domain.toLowerCase())
}

/** A name that can never be asked is a mistake to tell, and not one to pass over. */
export function parseMeshPeers(peers: readonly string[], mode: 'demo' | 'production'): NodeAddress[] {
  const parsed = peers.map((peer) =>
    mode === 'production' && !peer.startsWith('https:') ? undefined : parseNodeAddress(peer),
  )
  const wrong = peers.filter((_, place) => parsed[place] === undefined)
  if (wrong.length > 0)
    throw new SettingsError(
      wrong.map(
        (peer) => `MESH_PEERS: ${peer} is not the address of a node, an origin such as https://api.example.org`,
      ),
    )
  return parsed.filter((address) => address !== undefined)
}
