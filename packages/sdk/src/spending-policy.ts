import { addressPattern } from '@assay/protocol/address'
import { formatUsd, parseMicro, parseUsd } from '@assay/protocol/money'
import { isSameResource } from '@assay/protocol/same-resource'
import { AssayError } from './errors.ts'
import type { PayableNetwork } from './networks.ts'
import { channelFault, channelScheme } from './payment-methods/channel.ts'
import {
  choosePaymentMethod,
  type PaymentMethod,
  type PaymentMethodChoice,
  type PaymentMethodPolicy,
} from './payment-methods/choose-payment-method.ts'
import { challengeFor } from './payment-methods/payment-challenge.ts'
import type { Offer, PaymentRequired } from './payment-required.ts'

export type SpendingPolicy = {
  maxPerCallMicro: bigint
  networks: readonly PayableNetwork[]
  /** Hosts that may be paid; undefined for any the caller asks for. */
  hosts: readonly string[] | undefined
  /** Addresses that may be paid, lower case; undefined for any. */
  payees?: readonly string[] | undefined
  paymentMethods?: PaymentMethodPolicy | undefined
}

/** An offer that may be signed, by this payment method. */
type AllowedOffer = { offer: Offer; network: PayableNetwork; amountMicro: bigint; paymentMethod: PaymentMethod }
export type ChosenOffer = AllowedOffer & { choice: PaymentMethodChoice }

/**
 * The best offer that the policy allows: by the payment method that costs and risks least, then in the order of our networks.
 * Throws with the reasons when there is none. `challenges`: WWW-Authenticate of the same answer.
 */
export function chooseOffer(
  required: PaymentRequired,
  policy: SpendingPolicy,
  payer: string,
  challenges: string | null = null,
): ChosenOffer {
  const reasons: string[] = []
  const affordable: AllowedOffer[] = []
  let cheapestTooDear: bigint | undefined
  for (const offer of required.accepts) {
    const checked = checkOffer(offer, policy, payer)
    if (typeof checked === 'string') reasons.push(checked)
    else if (checked.amountMicro <= policy.maxPerCallMicro) affordable.push(...withChallenge(checked, challenges))
    else if (cheapestTooDear === undefined || checked.amountMicro < cheapestTooDear)
      cheapestTooDear = checked.amountMicro
  }
  const byPreference = (a: AllowedOffer, b: AllowedOffer) =>
    policy.networks.indexOf(a.network) - policy.networks.indexOf(b.network)
  affordable.sort(byPreference)
  const { paymentMethods = {} } = policy
  const choice = choosePaymentMethod({
    ...paymentMethods,
    offered: new Set(required.accepts.flatMap((offer) => paymentMethodOf(offer) ?? [])),
    possible: new Set(affordable.map(({ paymentMethod }) => paymentMethod)),
    priceMicro: affordable[0]?.amountMicro ?? 0n,
  })
  const best = affordable.find(({ paymentMethod }) => paymentMethod === choice?.paymentMethod)
  if (best !== undefined && choice !== undefined) return { ...best, choice }
  if (cheapestTooDear !== undefined)
    throw new AssayError('price_above_maximum', {
      detail: `${formatUsd(cheapestTooDear)} USD asked, ${formatUsd(policy.maxPerCallMicro)} allowed`,
      priceUsd: formatUsd(cheapestTooDear),
    })
  if (paymentMethods.only !== undefined)
    reasons.unshift(`${paymentMethods.only}: not offered, or not possible with this wallet`)
  throw new AssayError('no_acceptable_offer', { detail: reasons.join('; '), reasons })
}
/** By EIP-3009 the same money can be signed for in the words of the Payment scheme. */
function withChallenge(allowed: AllowedOffer, challenges: string | null): AllowedOffer[] {
  return allowed.paymentMethod === 'exact' && challengeFor(challenges, allowed)
    ? [allowed, { ...allowed, paymentMethod: 'mpp' }]
    : [allowed]
}

function paymentMethodOf({ scheme, extra }: Offer): PaymentMethod | undefined {
  const method = extra.assetTransferMethod ?? 'eip3009'
  if (scheme === 'exact') return method === 'eip3009' ? 'exact' : method === 'permit2' ? 'permit2' : undefined
  return scheme === 'upto' || scheme === 'credit' || scheme === channelScheme ? scheme : undefined
}

function checkOffer(offer: Offer, policy: SpendingPolicy, payer: string): AllowedOffer | string {
  const where = `${offer.scheme} on ${offer.network}`
  const onNetwork = policy.networks.filter((known) => known.network === offer.network)
  if (onNetwork.length === 0) return `${where}: network not allowed`
  const paymentMethod = paymentMethodOf(offer)
  if (paymentMethod === undefined || paymentMethod === 'credit')
    return `${where}: ${paymentMethod ? 'not a payment on chain' : 'scheme not supported'}`
  const needsPermit2 = paymentMethod === 'upto' || paymentMethod === 'permit2'
  if (needsPermit2 && !policy.paymentMethods?.permit2 && policy.paymentMethods?.only !== paymentMethod)
    return `${where}: needs an allowance for Permit2, and the policy names none`
  const fault = paymentMethod === channelScheme ? channelFault(offer) : undefined
  if (fault !== undefined) return `${where}: ${fault}`
  if (paymentMethod === 'upto' && !addressPattern.test(String(offer.extra.facilitatorAddress)))
    return `${where}: names no wallet that may take it`
  const network = onNetwork.find(({ usdc }) => usdc.toLowerCase() === offer.asset.toLowerCase())
  if (network === undefined) return `${where}: asset is not one that the policy names, such as the USDC of this network`
  if (network.name === '' && !needsPermit2) return `${where}: the policy names no EIP-712 domain of the asset`
  const { name, version } = offer.extra
  if ((name !== undefined && name !== network.name) || (version !== undefined && version !== network.version))
    return `${where}: the asset is described with another name or version`
  const amountMicro = parseMicro(offer.amount)
  if (amountMicro === undefined) return `${where}: amount is not a whole number of atomic units`
  const { maxPerCallUsd } = network
  // A limit that cannot be read allows nothing.
  if (maxPerCallUsd !== undefined && amountMicro > (parseUsd(maxPerCallUsd) ?? 0n))
    return `${where}: ${formatUsd(amountMicro)} USD asked, ${maxPerCallUsd} of this asset allowed`
  if (!addressPattern.test(offer.payTo) || /^0x0{40}$/.test(offer.payTo)) return `${where}: payTo is not an address`
  if (offer.payTo.toLowerCase() === payer.toLowerCase()) return `${where}: payTo is the payer`
  if (policy.payees && !policy.payees.includes(offer.payTo.toLowerCase())) return `${where}: payee not allowed`
  if (paymentMethod === channelScheme && depositOf(policy) < amountMicro)
    return `${where}: needs a deposit, and the policy allows none that covers the price`
  if (offer.maxTimeoutSeconds < 1 || offer.maxTimeoutSeconds > 3_600) return `${where}: timeout out of range`
  return { offer, network, amountMicro, paymentMethod }
}

/** What may be put into a channel at once. */
export const depositOf = ({ paymentMethods }: SpendingPolicy): bigint =>
  parseUsd(paymentMethods?.depositUsd ?? '0') ?? 0n

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
