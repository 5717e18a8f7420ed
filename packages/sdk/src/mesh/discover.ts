import { byEvidence } from '@assay/protocol/mesh/weigh-evidence'
import { parseUsd } from '@assay/protocol/money'
import { defaultPlatform, type Platform } from '../platform.ts'
import { sendPriceProof } from './buy-from.ts'
import { createFetchGuard } from './fetch-guard.ts'
import { type Candidate, type FoundNode, inspectNode, type PriceProof } from './inspect-node.ts'
import type { Reporter } from './report.ts'
import { untilEnough } from './until-enough.ts'
import { claimedStatement, compareViews, gatherViews } from './views.ts'
import { weighNode } from './weigh-node.ts'

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
  /** Only offers with these input and output schemas (`FoundNode.schema`). */
  schema?: string
  /** How many nodes are asked for their view at least, those of `nodes` and peers that they recommend. */
  views?: number
  /** Signs evidence against nodes that ask another price than they state; the nodes asked pass it on. */
  reporter?: Reporter
  platform?: Partial<Platform>
}

/** Nodes that were asked do not say the same about one: somebody is wrong, or somebody lies. */
export type Disagreement = {
  address: string
  about: 'key' | 'price' | 'health'
  views: readonly { node: string; says: string }[]
}

export type Discovery = {
  best: FoundNode | undefined
  /** Best first: a price that was seen, sellers that independent buyers vouch for, then what a successful call costs, health and latency. `why` says it in words. */
  found: readonly FoundNode[]
  rejected: readonly { address: string; reason: string }[]
  disagreements: readonly Disagreement[]
}

type Rejected = { address: string; reason: string }[]

const defaultLimit = 5
const defaultViews = 3
const reportMsMax = 2_000
const defaultDeadlineMs = 10_000
const pollMsMax = 5_000
const checksAtOnce = 16
const graceMs = 1_500

/** Finds who offers a capability across the mesh, compares them, and says whom to pay. */
export async function discover(capability: string, options: DiscoverOptions): Promise<Discovery> {
  const platform: Platform = { ...defaultPlatform, ...options.platform }
  const maxMicro = options.maxPriceUsd === undefined ? undefined : parseUsd(options.maxPriceUsd)
  if (options.maxPriceUsd !== undefined && maxMicro === undefined)
    throw new RangeError('maxPriceUsd is decimal USD, such as "0.05"')
  const homes = options.nodes.map((node) => new URL(node).origin)
  const guard = createFetchGuard({
    ...{ platform, homes, resolve: options.resolve },
    deadlineMs: options.deadlineMs ?? defaultDeadlineMs,
  })
  const rejected: Rejected = []
  const asked = { capability, guard, platform, rejected }
  const views = await gatherViews(homes, options.views ?? defaultViews, asked)
  const { candidates, disagreements } = compareViews(capability, views)
  const minHealth = options.minHealth ?? 0.5
  const healthy = candidates.filter(({ address, health, doubted }) => {
    if (!doubted && (health === undefined || health >= minHealth)) return true
    rejected.push({ address, reason: doubted ? 'most nodes that were asked do not recommend it' : `health ${health}` })
    return false
  })
  const limit = options.limit ?? defaultLimit
  const look = { capability, networks: options.networks, schema: options.schema, maxMicro, guard }
  const lies: { home: string; proof: PriceProof }[] = []
  const found = await untilEnough(orderByStatedPrice(capability, healthy), {
    ...{ platform, atOnce: checksAtOnce, enough: limit, graceMs },
    work: async (candidate, until) => {
      const looked = await guard
        .within(pollMsMax, (guarded) => inspectNode(candidate, look, guarded), until)
        .catch((error: unknown) => ({ reason: reasonOf(error), proof: undefined }))
      if (!('reason' in looked)) return looked
      rejected.push({ address: candidate.address, reason: looked.reason })
      if (looked.proof !== undefined) lies.push({ home: candidate.namedBy, proof: looked.proof })
      return undefined
    },
  })
  const { reporter } = options
  const reports =
    reporter === undefined
      ? []
      : lies.map(({ home, proof }) =>
          guard.within(reportMsMax, (guarded) => sendPriceProof(home, reporter, proof, guarded)).catch(() => false),
        )
  const weighed = await Promise.all(found.map((node) => weighNode(node, guard)))
  await Promise.all(reports)
  const ordered = weighed.sort(byWorth).slice(0, limit)
  return { best: ordered[0], found: ordered, rejected, disagreements }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

function byWorth(a: FoundNode, b: FoundNode): number {
  if (a.priceProven !== b.priceProven) return a.priceProven ? -1 : 1
  return byEvidence(a, b) || (b.health ?? 1) - (a.health ?? 1) || a.latencyMs - b.latencyMs
}

/**
 * What the statements say before they are checked: it only decides in which order they are checked. Every second place
 * goes by the order of the node that was asked, for anybody can state a low price.
 */
function orderByStatedPrice(capability: string, candidates: readonly Candidate[]): Candidate[] {
  const price = ({ statement }: Candidate) => {
    const { offers } = claimedStatement(statement)
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
