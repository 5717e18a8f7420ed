import { formatUsd, parseMicro } from '@assay/protocol/money'
import { isSameResource } from '@assay/protocol/same-resource'
import { AssayError } from './errors.ts'
import type { PayableNetwork } from './networks.ts'
import type { Offer, PaymentRequired } from './payment-required.ts'

export type SpendingPolicy = {
  maxPerCallMicro: bigint
  networks: readonly PayableNetwork[]
  /** Hosts that may be paid; undefined for any the caller asks for. */
  hosts: readonly string[] | undefined
  /** Addresses that may be paid, lower case; undefined for any. */
  payees?: readonly string[] | undefined
}

export type ChosenOffer = { offer: Offer; network: PayableNetwork; amountMicro: bigint }

const addressPattern = /^0x[0-9a-fA-F]{40}$/

/** The first offer, in the order of our networks, that the policy allows. Throws with the reasons when there is none. */
export function chooseOffer(required: PaymentRequired, policy: SpendingPolicy, payer: string): ChosenOffer {
  const reasons: string[] = []
  const affordable: ChosenOffer[] = []
  let cheapestTooDear: bigint | undefined
  for (const offer of required.accepts) {
    const judged = judgeOffer(offer, policy, payer)
    if (typeof judged === 'string') reasons.push(judged)
    else if (judged.amountMicro <= policy.maxPerCallMicro) affordable.push(judged)
    else if (cheapestTooDear === undefined || judged.amountMicro < cheapestTooDear) cheapestTooDear = judged.amountMicro
  }
  const byPreference = (a: ChosenOffer, b: ChosenOffer) =>
    policy.networks.indexOf(a.network) - policy.networks.indexOf(b.network)
  const [best] = affordable.sort(byPreference)
  if (best !== undefined) return best
  if (cheapestTooDear !== undefined)
    throw new AssayError('price_above_maximum', {
      detail: `${formatUsd(cheapestTooDear)} USD asked, ${formatUsd(policy.maxPerCallMicro)} allowed`,
      priceUsd: formatUsd(cheapestTooDear),
    })
  throw new AssayError('no_acceptable_offer', { detail: reasons.join('; '), reasons })
}

function judgeOffer(offer: Offer, policy: SpendingPolicy, payer: string): ChosenOffer | string {
  const where = `${offer.scheme} on ${offer.network}`
  const network = policy.networks.find((known) => known.network === offer.network)
  if (network === undefined) return `${where}: network not allowed`
  if (offer.scheme !== 'exact') return `${where}: scheme not supported`
  if (offer.asset.toLowerCase() !== network.usdc.toLowerCase()) return `${where}: asset is not the USDC of this network`
  const { name, version, assetTransferMethod } = offer.extra
  if (assetTransferMethod !== undefined && assetTransferMethod !== 'eip3009') return `${where}: method not supported`
  if ((name !== undefined && name !== network.name) || (version !== undefined && version !== network.version))
    return `${where}: the asset is described with another name or version`
  const amountMicro = parseMicro(offer.amount)
  if (amountMicro === undefined) return `${where}: amount is not a whole number of atomic units`
  if (!addressPattern.test(offer.payTo) || /^0x0{40}$/.test(offer.payTo)) return `${where}: payTo is not an address`
  if (offer.payTo.toLowerCase() === payer.toLowerCase()) return `${where}: payTo is the payer`
  if (policy.payees && !policy.payees.includes(offer.payTo.toLowerCase())) return `${where}: payee not allowed`
  if (offer.maxTimeoutSeconds < 1 || offer.maxTimeoutSeconds > 3_600) return `${where}: timeout out of range`
  return { offer, network, amountMicro }
}

/** The quote must be for what was asked, at the host that was asked: anything else is bait. */
export function requireSameResource(required: PaymentRequired, requestUrl: string): void {
  const quoted = required.resource.url
  if (!isSameResource(requestUrl, quoted)) throw new AssayError('resource_mismatch', { asked: requestUrl, quoted })
}

export function requireAllowedHost(url: string, policy: SpendingPolicy): void {
  const { host } = new URL(url)
  if (policy.hosts !== undefined && !policy.hosts.includes(host))
    throw new AssayError('host_not_allowed', { detail: host })
}
