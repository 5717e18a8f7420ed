import { sha256 } from '@assay/protocol/hash'
import { encodeHeader, isRecord } from '@assay/protocol/json-object'
import { bindingContentType, bindingNonce, bindingTag } from '@assay/protocol/request-binding'
import { authorizationTypes } from '@assay/protocol/typed-data/transfer-authorization'
import type { Hex, LocalAccount } from 'viem'
import { bytesToHex, getAddress } from 'viem/utils'
import { AssayError } from './errors.ts'
import { chainIdOf } from './networks.ts'
import { type ChannelState, channelIdOf, channelScheme, signVoucher } from './payment-methods/channel.ts'
import type { PaymentMethod } from './payment-methods/choose-payment-method.ts'
import { challengeFor, challengeNonce, credentialHeader } from './payment-methods/payment-challenge.ts'
import { signPermit } from './payment-methods/sign-permit.ts'
import type { PaymentRequired } from './payment-required.ts'
import type { Platform } from './platform.ts'
import type { ChosenOffer } from './spending-policy.ts'

/** One purchase: kept whole, so that every retry sends the same bytes. Plain data, safe to store and resume from. */
export type Purchase = {
  /** Secret payment-identifier; anyone who has it can fetch the answer again. */
  id: string
  /** Value of PAYMENT-SIGNATURE; by MPP, of Authorization. */
  paymentHeader: string
  resource: string
  network: string
  asset: string
  payTo: string
  amountMicro: string
  nonce: Hex
  validBefore: number
  /** Default: `exact`. */
  paymentMethod?: PaymentMethod
  /** The channel that is charged, and what it was charged before. */
  channel?: { id: Hex; baseMicro: string }
}

export type RequestToPay = { method: string; contentType: string | null; body: Uint8Array }

/** Cautious: a signed authorization stays usable this long at most, whatever the seller asks for. */
const validitySecondsMax = 300

/** Signs for a chosen offer, by its payment method. The id is given when an earlier attempt of the purchase had one. */
export async function signPayment(input: {
  account: LocalAccount
  required: PaymentRequired
  chosen: ChosenOffer
  request: RequestToPay
  platform: Platform
  id?: string
  /** WWW-Authenticate of the 402. */
  challenges?: string | null
  /** State of the channel, if the call is paid through one. */
  channel?: { state: ChannelState | undefined; depositMicro: bigint }
}): Promise<Purchase> {
  const { account, required, chosen, platform } = input
  const nowSeconds = Math.floor(platform.nowMs() / 1000)
  const id = input.id ?? `pay_${bytesToHex(platform.randomBytes(16)).slice(2)}`
  // Sellers write addresses in any case; a wrong checksum alone is no reason to fail in the middle of a purchase.
  const to = getAddress(chosen.offer.payTo.toLowerCase())
  const bought = {
    ...{ id, resource: required.resource.url, network: chosen.network.network, asset: chosen.network.usdc },
    ...{ payTo: to, amountMicro: chosen.amountMicro.toString(), paymentMethod: chosen.paymentMethod },
  }
  if (chosen.paymentMethod === 'mpp')
    return { ...bought, ...(await signChallenge(account, chosen, input.challenges, nowSeconds)) }
  const salt = bytesToHex(platform.randomBytes(32))
  const bound = chosen.paymentMethod !== channelScheme && offersBinding(required)
  const nonce = bound ? boundNonce(input.request, required, salt) : bytesToHex(platform.randomBytes(32))
  const validBefore = nowSeconds + Math.min(chosen.offer.maxTimeoutSeconds, validitySecondsMax)
  const { state, depositMicro = 0n } = input.channel ?? {}
  const payload =
    chosen.paymentMethod === 'exact'
      ? await signAuthorization(account, chosen, nonce, validBefore)
      : chosen.paymentMethod === channelScheme
        ? await signVoucher(account, chosen, state, { depositMicro, salt, validBefore })
        : await signPermit(account, chosen, { nonce, deadline: validBefore })
  const extensions = paymentExtensions(required, id, bound ? salt : undefined)
  const paymentHeader = encodeHeader({
    x402Version: 2,
    resource: required.resource,
    accepted: chosen.offer.raw,
    payload,
    ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
  })
  const channelId = chosen.paymentMethod === channelScheme ? channelIdOf(account.address, chosen) : undefined
  const channel = channelId && { id: channelId, baseMicro: (state?.chargedMicro ?? 0n).toString() }
  return { ...bought, paymentHeader, nonce, validBefore, ...(channel ? { channel } : {}) }
}

/** A transfer that anyone may submit and nobody may change, by EIP-3009. */
async function signAuthorization(account: LocalAccount, chosen: ChosenOffer, nonce: Hex, validBefore: number) {
  const { network, offer, amountMicro } = chosen
  const to = getAddress(offer.payTo.toLowerCase())
  const message = {
    from: account.address,
    to,
    value: amountMicro,
    validAfter: 0n,
    validBefore: BigInt(validBefore),
    nonce,
  }
  const signature = await account.signTypedData({
    domain: {
      name: network.name,
      version: network.version,
      chainId: chainIdOf(network),
      verifyingContract: getAddress(network.usdc.toLowerCase()),
    },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message,
  })
  const authorization = {
    ...message,
    value: amountMicro.toString(),
    validAfter: '0',
    validBefore: validBefore.toString(),
  }
  return { signature, authorization }
}

async function signChallenge(
  account: LocalAccount,
  chosen: ChosenOffer,
  challenges: string | null | undefined,
  nowSeconds: number,
) {
  const challenge = challengeFor(challenges ?? null, chosen)
  const validBefore = challenge === undefined ? 0 : Date.parse(challenge.expires) / 1000
  const inTime =
    Number.isInteger(validBefore) && validBefore > nowSeconds && validBefore <= nowSeconds + validitySecondsMax
  if (challenge === undefined || !inTime)
    throw new AssayError('payment_required_malformed', { detail: 'the challenge is not one to sign' })
  const nonce = challengeNonce(challenge)
  const signed = await signAuthorization(account, chosen, nonce, validBefore)
  const paymentHeader = credentialHeader(challenge, account.address, chainIdOf(chosen.network), signed)
  return { paymentHeader, nonce, validBefore }
}

function boundNonce(request: RequestToPay, required: PaymentRequired, salt: Hex): Hex {
  return bindingNonce({
    method: request.method.toUpperCase(),
    resource: required.resource.url,
    contentType: bindingContentType(request.contentType),
    bodyDigest: sha256(request.body),
    salt,
  })
}

function infoOf(required: PaymentRequired, key: string): Record<string, unknown> | undefined {
  const info = required.extensions[key]?.info
  return isRecord(info) ? info : undefined
}

export function offersBinding(required: PaymentRequired): boolean {
  const info = infoOf(required, 'request-binding')
  return info?.version === 1 && info.tag === bindingTag
}

/** What the seller offered comes back with our additions; the discovery block is left out, for it only costs bytes. */
function paymentExtensions(required: PaymentRequired, id: string, salt: Hex | undefined): Record<string, unknown> {
  const extensions: Record<string, unknown> = {}
  for (const key of Object.keys(required.extensions)) {
    const info = infoOf(required, key)
    if (info === undefined || key === 'bazaar' || key === 'sign-in-with-x') continue
    if (key === 'payment-identifier') extensions[key] = { info: { ...info, id } }
    else if (key === 'request-binding') {
      if (salt !== undefined) extensions[key] = { info: { ...info, salt } }
    } else extensions[key] = { info }
  }
  return extensions
}
