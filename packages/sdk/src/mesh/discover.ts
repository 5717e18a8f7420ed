import { fromBase64url } from '@assay/protocol/base64'
import { readJsonObject } from '@assay/protocol/json-object'
import { parseUsd } from '@assay/protocol/money'
import { AssayError } from '../errors.ts'
import { defaultPlatform, type Platform } from '../platform.ts'
import { createFetchGuard, type FetchGuard } from './fetch-guard.ts'
import { type Candidate, type FoundNode, lookAt } from './look-at.ts'
import { type MeshDocument, readMesh } from './read-mesh.ts'
import { untilEnough } from './until-enough.ts'

export type DiscoverOptions = {
  /** Nodes to start from, such as ["https://api.example.org"]; all are asked, the first that answers is enough. */
  nodes: readonly string[]
  /** Decimal USD; dearer nodes are left out. */
  maxPriceUsd?: string
  /** CAIP-2 networks the caller can pay on. */
  networks?: readonly string[]
  /** Least share of visits that a node must have answered, as others measured it. */
  minHealth?: number
  /** How many nodes are found at most. */
  limit?: number
  /** For everything together. Once one node is found, the others have 1.5 s more. */
  deadlineMs?: number
  /** Addresses of a host name; given where the runtime can tell, it keeps a public name from leading inside. */
  resolve?: (hostname: string) => Promise<readonly string[]>
  platform?: Partial<Platform>
}

export type Discovery = {
  best: FoundNode | undefined
  /** Best first: a price that was seen, then price, health and latency. */
  found: readonly FoundNode[]
  rejected: readonly { address: string; reason: string }[]
}

type Rejected = { address: string; reason: string }[]

const usualLimit = 5
const usualDeadlineMs = 10_000
const lookMsMax = 5_000
const looksAtOnce = 16
const startGraceMs = 700
const lookGraceMs = 1_500

/** Finds who offers a capability across the mesh, compares them, and says whom to pay. */
export async function discover(capability: string, options: DiscoverOptions): Promise<Discovery> {
  const platform: Platform = { ...defaultPlatform, ...options.platform }
  const maxMicro = options.maxPriceUsd === undefined ? undefined : parseUsd(options.maxPriceUsd)
  if (options.maxPriceUsd !== undefined && maxMicro === undefined)
    throw new RangeError('maxPriceUsd is decimal USD, such as "0.05"')
  const homes = options.nodes.map((node) => new URL(node).origin)
  const guard = createFetchGuard({
    ...{ platform, homes, resolve: options.resolve },
    deadlineMs: options.deadlineMs ?? usualDeadlineMs,
  })
  const rejected: Rejected = []
  const candidates = await gatherCandidates(capability, homes, guard, platform, rejected)
  const minHealth = options.minHealth ?? 0.5
  const healthy = candidates.filter(({ address, health }) => {
    if (health === undefined || health >= minHealth) return true
    rejected.push({ address, reason: `health ${health}` })
    return false
  })
  const limit = options.limit ?? usualLimit
  const look = { capability, networks: options.networks, maxMicro, guard }
  const found = await untilEnough(orderByStatedPrice(capability, healthy), {
    ...{ platform, atOnce: looksAtOnce, enough: limit, graceMs: lookGraceMs },
    work: async (candidate, until) => {
      const looked = await guard.within(lookMsMax, (guarded) => lookAt(candidate, look, guarded), until).catch(reasonOf)
      if (typeof looked !== 'string') return looked
      rejected.push({ address: candidate.address, reason: looked })
      return undefined
    },
  })
  const ordered = found.sort(byWorth).slice(0, limit)
  return { best: ordered[0], found: ordered, rejected }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

function byWorth(a: FoundNode, b: FoundNode): number {
  if (a.priceProven !== b.priceProven) return a.priceProven ? -1 : 1
  return Number(a.priceMicro - b.priceMicro) || (b.health ?? 1) - (a.health ?? 1) || a.latencyMs - b.latencyMs
}

/** One entry for each node, in its newest words. */
async function gatherCandidates(
  capability: string,
  homes: readonly string[],
  guard: FetchGuard,
  platform: Platform,
  rejected: Rejected,
): Promise<Candidate[]> {
  const documents = await untilEnough(homes, {
    ...{ platform, atOnce: homes.length, enough: homes.length, graceMs: startGraceMs },
    work: async (origin, until) => {
      const document = await guard
        .within(lookMsMax, (guarded) => readMesh(origin, { capability, platform: guarded }), until)
        .catch((error: unknown) => void rejected.push({ address: origin, reason: reasonOf(error) }))
      return document && { origin, document }
    },
  })
  if (documents.length === 0)
    throw new AssayError('request_failed', {
      detail: rejected.map((one) => `${one.address}: ${one.reason}`).join('; '),
    })
  const known = new Map<string, Candidate>()
  for (const candidate of documents.flatMap(({ origin, document }) => candidatesOf(origin, document))) {
    const earlier = known.get(candidate.address)
    if (earlier === undefined || claimedSequence(candidate.statement) > claimedSequence(earlier.statement))
      known.set(candidate.address, candidate)
  }
  return [...known.values()]
}

function candidatesOf(origin: string, { node, peers }: MeshDocument): Candidate[] {
  const own = { address: node.address, statement: node.statement, health: undefined, recommended: true }
  const others = peers.map(({ address, statement, health, recommended }) => ({
    ...{ address, statement, health, recommended },
  }))
  return [own, ...others].map((candidate) => ({ ...candidate, namedBy: origin }))
}

/**
 * What the statements say before they are checked: it only decides in which order they are looked at. Every second place
 * goes by the order of the node that was asked, for anybody can state a low price.
 */
function orderByStatedPrice(capability: string, candidates: readonly Candidate[]): Candidate[] {
  const price = ({ statement }: Candidate) => {
    const { offers } = claimed(statement)
    const prices = offers.filter((offer) => offer.capability === capability).map((offer) => Number(offer.price_micro))
    return Math.min(...prices, Number.POSITIVE_INFINITY)
  }
  const offering = candidates
    .map((candidate) => ({ candidate, price: price(candidate) }))
    .filter((one) => Number.isFinite(one.price))
    .sort((a, b) => Number(b.candidate.recommended) - Number(a.candidate.recommended))
  const cheapest = offering.toSorted(
    (a, b) => Number(b.candidate.recommended) - Number(a.candidate.recommended) || a.price - b.price,
  )
  const mixed = cheapest.flatMap((one, place) => [one, ...offering.slice(place, place + 1)])
  return [...new Set(mixed.map((one) => one.candidate))]
}

type Claimed = { sequence: number; offers: { capability?: unknown; price_micro?: unknown }[] }

function claimed(jws: string): Claimed {
  const { sequence, offers } = readJsonObject(fromBase64url(jws.split('.')[1] ?? '')) ?? {}
  return { sequence: Number(sequence ?? 0) || 0, offers: Array.isArray(offers) ? offers.filter((one) => one) : [] }
}

const claimedSequence = (jws: string) => claimed(jws).sequence
