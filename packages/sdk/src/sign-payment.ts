import { sha256 } from '@assay/protocol/hash'
import { encodeHeader, isRecord } from '@assay/protocol/json-object'
import { bindingContentType, bindingNonce, bindingTag } from '@assay/protocol/request-binding'
import { authorizationTypes } from '@assay/protocol/typed-data/transfer-authorization'
import type { Hex, LocalAccount } from 'viem'
import { bytesToHex, getAddress } from 'viem/utils'
import { chainIdOf } from './networks.ts'
import type { PaymentRequired } from './payment-required.ts'
import type { Platform } from './platform.ts'
import type { ChosenOffer } from './spending-policy.ts'

/** One purchase: kept whole, so that every retry sends the same bytes. Plain data, safe to store and resume from. */
export type Purchase = {
  /** Secret payment-identifier; anyone who has it can fetch the answer again. */
  id: string
  /** Value of PAYMENT-SIGNATURE. */
  paymentHeader: string
  resource: string
  network: string
  asset: string
  payTo: string
  amountMicro: string
  nonce: Hex
  validBefore: number
}

export type RequestToPay = { method: string; contentType: string | null; body: Uint8Array }

/** Cautious: a signed authorization stays usable this long at most, whatever the seller asks for. */
const validitySecondsMax = 300

/** Signs one EIP-3009 authorization for a chosen offer. The id is given when an earlier attempt of the purchase had one. */
export async function signPayment(input: {
  account: LocalAccount
  required: PaymentRequired
  chosen: ChosenOffer
  request: RequestToPay
  platform: Platform
  id?: string
}): Promise<Purchase> {
  const { account, required, chosen, platform } = input
  const nowSeconds = Math.floor(platform.nowMs() / 1000)
  const id = input.id ?? `pay_${bytesToHex(platform.randomBytes(16)).slice(2)}`
  const salt = bytesToHex(platform.randomBytes(32))
  const bound = offersBinding(required)
  const nonce = bound ? boundNonce(input.request, required, salt) : bytesToHex(platform.randomBytes(32))
  const validBefore = nowSeconds + Math.min(chosen.offer.maxTimeoutSeconds, validitySecondsMax)
  // Sellers write addresses in any case; a wrong checksum alone is no reason to fail in the middle of a purchase.
  const to = getAddress(chosen.offer.payTo.toLowerCase())
  const signature = await account.signTypedData({
    domain: {
      name: chosen.network.name,
      version: chosen.network.version,
      chainId: chainIdOf(chosen.network),
      verifyingContract: getAddress(chosen.network.usdc.toLowerCase()),
    },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: account.address,
      to,
      value: chosen.amountMicro,
      validAfter: 0n,
      validBefore: BigInt(validBefore),
      nonce,
    },
  })
  const authorization = {
    from: account.address,
    to,
    value: chosen.amountMicro.toString(),
    validAfter: '0',
    validBefore: validBefore.toString(),
    nonce,
  }
  const extensions = paymentExtensions(required, id, bound ? salt : undefined)
  return {
    id,
    paymentHeader: encodeHeader({
      x402Version: 2,
      resource: required.resource,
      accepted: chosen.offer.raw,
      payload: { signature, authorization },
      ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
    }),
    resource: required.resource.url,
    network: chosen.network.network,
    asset: chosen.network.usdc,
    payTo: to,
    amountMicro: chosen.amountMicro.toString(),
    nonce,
    validBefore,
  }
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
