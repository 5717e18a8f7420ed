import { didWeb } from '@assay/protocol/did'
import { readDirectory, type TrustedKey } from '@assay/protocol/keys/key-directory'
import { contradiction, type PriceEvidence } from '@assay/protocol/mesh/evidence'
import type { MeshOffer, MeshStatement } from '@assay/protocol/mesh/read-statement'
import {
  exampleUrlOf,
  offerUrl,
  type StatementFault,
  siteOf,
  verifyMeshStatement,
} from '@assay/protocol/mesh/statement'
import { type EvidenceSummary, weighEvidence } from '@assay/protocol/mesh/weigh-evidence'
import { formatUsd, parseMicro } from '@assay/protocol/money'
import { readLimited } from '@assay/protocol/read-limited'
import { verifyResponse } from '@assay/protocol/signatures/verify-response'
import { fetchDirectory } from '../key-pins.ts'
import { parsePaymentRequired } from '../payment-required.ts'
import type { Platform } from '../platform.ts'
import type { FetchGuard } from './fetch-guard.ts'
import { keptResponse } from './report.ts'

export type Candidate = {
  address: string
  statement: string
  health: number | undefined
  recommended: boolean
  /** The node that named it. */
  namedBy: string
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
  /** What its own 402 asks for the example, whatever its statement says. */
  priceMicro: bigint
  priceUsd: string
  /** False where nothing could be asked without doing it, such as a free POST: the price is its word alone. */
  priceProven: boolean
  networks: readonly string[]
  /** As the node that was asked measured it; undefined for that node itself. */
  health: number | undefined
  /** As measured from here. */
  latencyMs: number
  /** The node that named it. */
  namedBy: string
  /** What it states, signed by it. */
  statement: string
  /** Key directory of the origin that is paid, as it was when the node was checked. */
  keys: unknown
  /** SHA-256 of its input and output schemas: two offers with the same one can be called alike. */
  schema: string | undefined
  /** What others paid it for. */
  evidence: EvidenceSummary
  /** Why it is where it is among those found. */
  why: string
}

/** A 402 that contradicts the statement of its node, both signed by it. */
export type PriceProof = Pick<PriceEvidence, 'node' | 'statement' | 'request' | 'response'>
export type Refusal = { reason: string; proof?: PriceProof }

export type InspectOptions = {
  capability: string
  networks?: readonly string[] | undefined
  schema?: string | undefined
  maxMicro: bigint | undefined
  guard: FetchGuard
}

const bodyBytesMax = 16_384

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

/** Inspects one node: keys of each origin, statement, and the price that it really asks. */
export async function inspectNode(
  { address, statement: jws, health, namedBy }: Candidate,
  { capability, networks, schema, maxMicro, guard }: InspectOptions,
  platform: Platform,
): Promise<FoundNode | Refusal> {
  if (!(await guard.admit(address, namedBy))) return no('its address may not be asked from here')
  const startedMs = platform.nowMs()
  let directory = await fetchDirectory(address, platform)
  const latencyMs = platform.nowMs() - startedMs
  const { keys } = readDirectory(directory)
  const check = await verifyMeshStatement(jws, { address, keys: keys.map(asPeerKey), nowMs: platform.nowMs() })
  if (!check.ok) return no(`statement: ${faultTexts[check.reason]}`)
  const { statement, keyId } = check
  const offer = bestOffer(statement, capability, networks)
  if (offer === undefined) return no('not offered on a network that can be paid')
  if (schema !== undefined && offer.schema !== schema) return no('it offers another schema')
  const site = siteOf(statement, offer)
  if (site !== address) {
    const signer = keys.find((key) => key.keyId === keyId)
    const published = await publishes(site, address, signer, guard, platform)
    if (published === undefined) return no('base_url does not publish the key of the statement')
    directory = published
  }
  const example = exampleUrlOf(statement, offer)
  const asked = await fetchPrice(offer, { url: example, networks, directory }, platform)
  if ('reason' in asked) {
    const { exchange } = asked
    return exchange === undefined ? asked : { ...asked, proof: { node: statement.did, statement: jws, ...exchange } }
  }
  if (maxMicro !== undefined && asked.micro > maxMicro) return no(`costs ${formatUsd(asked.micro)} USD`)
  return {
    did: didWeb(new URL(address).host),
    address,
    name: statement.name,
    capability,
    method: offer.method,
    url: offerUrl(statement, offer),
    example,
    priceMicro: asked.micro,
    priceUsd: formatUsd(asked.micro),
    priceProven: asked.proven,
    networks: offer.networks ?? [],
    health,
    latencyMs,
    namedBy,
    statement: jws,
    keys: directory,
    schema: offer.schema,
    evidence: weighEvidence([], String),
    why: '',
  }
}

const no = (reason: string): Refusal => ({ reason })

export const asPeerKey = ({ keyId, x, notBefore, notAfter }: TrustedKey) => ({
  kid: keyId,
  x,
  nbf: notBefore,
  exp: notAfter,
})

/** The directory of another origin, if it knows the very key: names of keys are free, the key itself is not. */
export async function publishes(
  origin: string,
  from: string,
  signer: Pick<TrustedKey, 'keyId' | 'x'> | undefined,
  guard: FetchGuard,
  platform: Platform,
): Promise<unknown> {
  if (signer === undefined || !(await guard.admit(origin, from))) return undefined
  const directory = await fetchDirectory(origin, platform)
  const known = readDirectory(directory).keys.some(({ keyId, x }) => keyId === signer.keyId && x === signer.x)
  return known ? directory : undefined
}

function bestOffer({ offers }: MeshStatement, capability: string, networks?: readonly string[]) {
  const payable = (offer: MeshOffer) =>
    offer.price_micro === '0' ||
    networks === undefined ||
    (offer.networks ?? []).some((network) => networks.includes(network))
  const fitting = offers.filter((offer) => offer.capability === capability && payable(offer))
  return fitting.sort((a, b) => Number(BigInt(a.price_micro) - BigInt(b.price_micro)))[0]
}

type Asked = { micro: bigint; proven: boolean }
type NotAsked = Refusal & { exchange?: Pick<PriceProof, 'request' | 'response'> }

/** What the node really asks, without paying: a statement is only worth what its signed 402 says. */
async function fetchPrice(
  offer: MeshOffer,
  { url, networks, directory }: { url: string; networks: readonly string[] | undefined; directory: unknown },
  platform: Platform,
): Promise<Asked | NotAsked> {
  const low = BigInt(offer.price_micro)
  const free = low === 0n && BigInt(offer.price_micro_max ?? '0') === 0n
  // A free POST, or anything but GET and POST, would be done by asking.
  if (offer.method !== 'GET' && (offer.method !== 'POST' || free)) return { micro: low, proven: false }
  const response = await platform.fetch(new Request(url, { method: offer.method }))
  if (response.status !== 402) {
    await response.body?.cancel()
    if (free && response.ok) return { micro: 0n, proven: true }
    return no(`the example answers ${response.status} instead of ${free ? 200 : 402}`)
  }
  const body = await readLimited(response.body, bodyBytesMax)
  if (body === 'too_large') return no('its 402 is too large')
  const request = { method: offer.method, url }
  const received = { status: 402, headers: response.headers, body }
  const verified = await verifyResponse(request, received, { directory, nowMs: platform.nowMs() })
  // A price that nobody can hold against the node may be another one for the next buyer.
  if (verified.status !== 'verified') return no('its 402 is not signed by it')
  const header = response.headers.get('payment-required')
  const asked = parsePaymentRequired(header)
    .accepts.filter(({ scheme, network }) => scheme === 'exact' && (networks?.includes(network) ?? true))
    .flatMap(({ amount }) => parseMicro(amount) ?? [])
  if (contradiction(offer, header) !== undefined)
    return {
      ...no('price_mismatch: it asks another price than it states'),
      exchange: { request, response: keptResponse(received) },
    }
  if (asked.length === 0) return no('price_mismatch: its 402 has no amount')
  return { micro: asked.reduce((most, micro) => (micro > most ? micro : most)), proven: true }
}
