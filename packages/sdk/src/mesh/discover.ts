import { didWeb } from '@assay/protocol/did'
import { readDirectory } from '@assay/protocol/keys/key-directory'
import type { MeshOffer, MeshStatement } from '@assay/protocol/mesh/read-statement'
import { exampleUrlOf, offerUrl, type StatementFault, verifyMeshStatement } from '@assay/protocol/mesh/statement'
import { formatUsd, parseMicro, parseUsd } from '@assay/protocol/money'
import { isLoopbackUrl } from '../demo.ts'
import { AssayError } from '../errors.ts'
import { fetchDirectory } from '../key-pins.ts'
import { parsePaymentRequired } from '../payment-required.ts'
import { defaultPlatform, type Platform } from '../platform.ts'
import { type MeshDocument, readMesh } from './read-mesh.ts'

export type DiscoverOptions = {
  /** Nodes to start from, such as ["https://api.example.org"]; the first that answers is enough. */
  nodes: readonly string[]
  /** Decimal USD; dearer nodes are left out. */
  maxPriceUsd?: string
  /** CAIP-2 networks the caller can pay on. */
  networks?: readonly string[]
  /** Least share of visits that a node must have answered, as others measured it. */
  minHealth?: number
  /** How many nodes are looked at closely, cheapest first. */
  limit?: number
  platform?: Partial<Platform>
}

/** A node that offers what was looked for; its signature and its price were checked just now. */
export type FoundNode = {
  did: string
  address: string
  name: string
  capability: string
  method: string
  /** `{name}` stands for a parameter. */
  url: string
  example: string
  priceMicro: bigint
  priceUsd: string
  networks: readonly string[]
  /** As the node that was asked measured it; undefined for that node itself. */
  health: number | undefined
  /** As measured from here. */
  latencyMs: number
}

export type Discovery = {
  best: FoundNode | undefined
  /** Best first: price, then health, then latency. */
  found: readonly FoundNode[]
  rejected: readonly { address: string; reason: string }[]
}

type Candidate = { address: string; statement: string; health: number | undefined; recommended: boolean }

const usualLimit = 5
const probeMsMax = 10_000

/** Finds who offers a capability across the mesh, compares them, and says whom to pay. */
export async function discover(capability: string, options: DiscoverOptions): Promise<Discovery> {
  const platform: Platform = { ...defaultPlatform, ...options.platform }
  const maxMicro = options.maxPriceUsd === undefined ? undefined : parseUsd(options.maxPriceUsd)
  if (options.maxPriceUsd !== undefined && maxMicro === undefined)
    throw new RangeError('maxPriceUsd is decimal USD, such as "0.05"')
  const rejected: { address: string; reason: string }[] = []
  const candidates = await gatherCandidates(capability, options, platform, rejected)
  const ordered = orderByStatedPrice(capability, candidates)
  const found: FoundNode[] = []
  for (const candidate of ordered) {
    if (found.length >= (options.limit ?? usualLimit)) break
    if (candidate.health !== undefined && candidate.health < (options.minHealth ?? 0.5)) {
      rejected.push({ address: candidate.address, reason: `health ${candidate.health}` })
      continue
    }
    const looked = await lookAt(capability, candidate, options, maxMicro, platform).catch((error: unknown) =>
      error instanceof Error ? error.message : String(error),
    )
    if (typeof looked === 'string') rejected.push({ address: candidate.address, reason: looked })
    else found.push(looked)
  }
  found.sort(
    (a, b) => Number(a.priceMicro - b.priceMicro) || (b.health ?? 1) - (a.health ?? 1) || a.latencyMs - b.latencyMs,
  )
  return { best: found[0], found, rejected }
}

/** One entry for each node, in its newest words. */
async function gatherCandidates(
  capability: string,
  options: DiscoverOptions,
  platform: Platform,
  rejected: { address: string; reason: string }[],
): Promise<Candidate[]> {
  const known = new Map<string, Candidate>()
  let answered = 0
  for (const node of options.nodes) {
    const { origin } = new URL(node)
    const document = await readMesh(origin, { capability, platform }).catch((error: unknown) => {
      rejected.push({ address: origin, reason: error instanceof Error ? error.message : String(error) })
      return undefined
    })
    if (document === undefined) continue
    answered += 1
    for (const candidate of candidatesOf(origin, document)) {
      const earlier = known.get(candidate.address)
      if (earlier === undefined || claimedSequence(candidate.statement) > claimedSequence(earlier.statement))
        known.set(candidate.address, candidate)
    }
  }
  if (answered === 0)
    throw new AssayError('request_failed', {
      detail: rejected.map((one) => `${one.address}: ${one.reason}`).join('; '),
    })
  return [...known.values()]
}

function candidatesOf(origin: string, document: MeshDocument): Candidate[] {
  const own = {
    address: document.node.address,
    statement: document.node.statement,
    health: undefined,
    recommended: true,
  }
  const others = document.peers.map(({ address, statement, health, recommended }) => ({
    address,
    statement,
    health,
    recommended,
  }))
  // A node out there must not lead a caller to something on its own machine, or off https.
  const safe = (address: string) => new URL(address).protocol === 'https:' || isLoopbackUrl(origin)
  return [own, ...others].filter(({ address }) => safe(address))
}

/** What the statements say before they are checked: it only decides in which order they are. */
function orderByStatedPrice(capability: string, candidates: readonly Candidate[]): Candidate[] {
  const price = ({ statement }: Candidate) => {
    const offers = (claimed(statement)?.offers ?? []) as { capability?: unknown; price_micro?: unknown }[]
    const prices = offers.filter((offer) => offer.capability === capability).map((offer) => Number(offer.price_micro))
    return Math.min(...prices, Number.POSITIVE_INFINITY)
  }
  return candidates
    .map((candidate) => ({ candidate, price: price(candidate) }))
    .filter((one) => Number.isFinite(one.price))
    .sort((a, b) => Number(b.candidate.recommended) - Number(a.candidate.recommended) || a.price - b.price)
    .map((one) => one.candidate)
}

function claimed(jws: string): { sequence?: unknown; offers?: unknown[] } | undefined {
  try {
    const payload = (jws.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
    const value: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(payload), (c) => c.charCodeAt(0))))
    const { sequence, offers } = (value ?? {}) as { sequence?: unknown; offers?: unknown }
    return { sequence, ...(Array.isArray(offers) ? { offers } : {}) }
  } catch {
    return undefined
  }
}

const claimedSequence = (jws: string) => Number(claimed(jws)?.sequence ?? 0) || 0

const faultTexts: Record<StatementFault, string> = {
  too_large: 'it is too large',
  signature: 'it is not signed by a key that the address publishes',
  not_canonical: 'it is not canonical JSON',
  malformed: 'it is malformed',
  other_node: 'it is about another node',
  expired: 'it has expired',
  from_the_future: 'it comes from the future',
  key_not_valid_then: 'the key was not valid when it was signed',
}

async function lookAt(
  capability: string,
  candidate: Candidate,
  options: DiscoverOptions,
  maxMicro: bigint | undefined,
  platform: Platform,
): Promise<FoundNode | string> {
  const { address } = candidate
  const startedMs = platform.nowMs()
  const directory = await fetchDirectory(address, platform)
  const latencyMs = platform.nowMs() - startedMs
  const keys = readDirectory(directory).keys.map((key) => ({
    kid: key.keyId,
    x: key.x,
    nbf: key.notBefore,
    exp: key.notAfter,
  }))
  const check = await verifyMeshStatement(candidate.statement, { address, keys, nowMs: platform.nowMs() })
  if (!check.ok) return `statement: ${faultTexts[check.reason]}`
  const { statement } = check
  const offer = bestOffer(statement, capability, options.networks)
  if (offer === undefined) return 'not offered on a network that can be paid'
  const priceMicro = BigInt(offer.price_micro)
  if (maxMicro !== undefined && priceMicro > maxMicro) return `costs ${formatUsd(priceMicro)} USD`
  const example = exampleUrlOf(statement, offer)
  const wrong = await wrongPrice(offer, example, platform)
  if (wrong !== undefined) return wrong
  return {
    did: didWeb(new URL(address).host),
    address,
    name: statement.name,
    capability,
    method: offer.method,
    url: offerUrl(statement, offer),
    example,
    priceMicro,
    priceUsd: formatUsd(priceMicro),
    networks: offer.networks ?? [],
    health: candidate.health,
    latencyMs,
  }
}

function bestOffer({ offers }: MeshStatement, capability: string, networks?: readonly string[]) {
  const payable = (offer: MeshOffer) =>
    offer.price_micro === '0' ||
    networks === undefined ||
    (offer.networks ?? []).some((network) => networks.includes(network))
  const fitting = offers.filter((offer) => offer.capability === capability && payable(offer))
  return fitting.sort((a, b) => Number(BigInt(a.price_micro) - BigInt(b.price_micro)))[0]
}

/** What the node really asks, without paying: a statement is only worth what its 402 says. */
async function wrongPrice(offer: MeshOffer, url: string, platform: Platform): Promise<string | undefined> {
  const { price_micro: low, price_micro_max: high = low } = offer
  if (low === '0' || (offer.method !== 'GET' && offer.method !== 'POST')) return undefined
  const limit = platform.timeout(probeMsMax)
  try {
    const request = new Request(url, { method: offer.method, redirect: 'error', signal: limit.signal })
    const response = await platform.fetch(request)
    // Only the header counts.
    await response.body?.cancel()
    if (response.status !== 402) return `the example answers ${response.status} instead of 402`
    const exact = parsePaymentRequired(response.headers.get('payment-required')).accepts.filter(
      ({ scheme }) => scheme === 'exact',
    )
    const fits = exact.every(({ amount }) => {
      const asked = parseMicro(amount)
      return asked !== undefined && asked >= BigInt(low) && asked <= BigInt(high)
    })
    return fits && exact.length > 0 ? undefined : 'price_mismatch: it asks another price than it states'
  } finally {
    limit.clear()
  }
}
