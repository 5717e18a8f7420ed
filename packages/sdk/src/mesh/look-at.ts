import { didWeb } from '@assay/protocol/did'
import { readDirectory, type TrustedKey } from '@assay/protocol/keys/key-directory'
import type { MeshOffer, MeshStatement } from '@assay/protocol/mesh/read-statement'
import {
  exampleUrlOf,
  offerUrl,
  type StatementFault,
  siteOf,
  verifyMeshStatement,
} from '@assay/protocol/mesh/statement'
import { formatUsd, parseMicro } from '@assay/protocol/money'
import { fetchDirectory } from '../key-pins.ts'
import { parsePaymentRequired } from '../payment-required.ts'
import type { Platform } from '../platform.ts'
import type { FetchGuard } from './fetch-guard.ts'

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
}

export type LookOptions = {
  capability: string
  networks?: readonly string[] | undefined
  maxMicro: bigint | undefined
  guard: FetchGuard
}

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

/** Looks at one node closely: keys of each origin, statement, and the price that it really asks. A text says why not. */
export async function lookAt(
  { address, statement: jws, health, namedBy }: Candidate,
  { capability, networks, maxMicro, guard }: LookOptions,
  platform: Platform,
): Promise<FoundNode | string> {
  if (!(await guard.admit(address, namedBy))) return 'its address may not be asked from here'
  const startedMs = platform.nowMs()
  const keys = await keysOf(address, platform)
  const latencyMs = platform.nowMs() - startedMs
  const check = await verifyMeshStatement(jws, { address, keys: keys.map(asPeerKey), nowMs: platform.nowMs() })
  if (!check.ok) return `statement: ${faultTexts[check.reason]}`
  const { statement, keyId } = check
  const offer = bestOffer(statement, capability, networks)
  if (offer === undefined) return 'not offered on a network that can be paid'
  const site = siteOf(statement, offer)
  const signer = keys.find((key) => key.keyId === keyId)
  if (site !== address && !(await publishes(site, address, signer, guard, platform)))
    return 'base_url does not publish the key of the statement'
  const example = exampleUrlOf(statement, offer)
  const asked = await askedPrice(offer, example, networks, platform)
  if (typeof asked === 'string') return asked
  if (maxMicro !== undefined && asked.micro > maxMicro) return `costs ${formatUsd(asked.micro)} USD`
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
  }
}

const keysOf = async (origin: string, platform: Platform) => readDirectory(await fetchDirectory(origin, platform)).keys

const asPeerKey = ({ keyId, x, notBefore, notAfter }: TrustedKey) => ({ kid: keyId, x, nbf: notBefore, exp: notAfter })

/** Whether another origin knows the very key: names of keys are free, the key itself is not. */
export async function publishes(
  origin: string,
  from: string,
  signer: Pick<TrustedKey, 'keyId' | 'x'> | undefined,
  guard: FetchGuard,
  platform: Platform,
): Promise<boolean> {
  if (signer === undefined || !(await guard.admit(origin, from))) return false
  return (await keysOf(origin, platform)).some(({ keyId, x }) => keyId === signer.keyId && x === signer.x)
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

/** What the node really asks, without paying: a statement is only worth what its 402 says. */
async function askedPrice(
  offer: MeshOffer,
  url: string,
  networks: readonly string[] | undefined,
  platform: Platform,
): Promise<Asked | string> {
  const low = BigInt(offer.price_micro)
  const high = BigInt(offer.price_micro_max ?? offer.price_micro)
  const free = low === 0n && high === 0n
  // A free POST, or anything but GET and POST, would be done by asking.
  if (offer.method !== 'GET' && (offer.method !== 'POST' || free)) return { micro: low, proven: false }
  const response = await platform.fetch(new Request(url, { method: offer.method }))
  // Only the header counts.
  await response.body?.cancel()
  if (free && response.ok) return { micro: 0n, proven: true }
  if (response.status !== 402) return `the example answers ${response.status} instead of ${free ? 200 : 402}`
  const asked = parsePaymentRequired(response.headers.get('payment-required'))
    .accepts.filter(({ scheme, network }) => scheme === 'exact' && (networks?.includes(network) ?? true))
    .map(({ amount }) => parseMicro(amount))
  const fits = asked.every((micro) => micro !== undefined && micro >= low && micro <= high)
  if (!fits || asked.length === 0) return 'price_mismatch: it asks another price than it states'
  return {
    micro: asked.reduce<bigint>((most, micro) => (micro !== undefined && micro > most ? micro : most), 0n),
    proven: true,
  }
}
