import { type Address, checksumAddress, parseAddress } from '@assay/protocol/address'
import { chainOfAsset } from '@assay/protocol/asset'
import type { Json } from '@assay/protocol/canonical-json'
import { type Micro, parseMicro } from '@assay/protocol/money'
import { equalBytes, sha256 } from '../kernel/bytes.ts'
import { type Clock, nowSeconds } from '../kernel/clock.ts'
import type { PaidCall } from './paid-call.ts'
import type { Terms } from './terms.ts'

/**
 * Compact EdDSA JWS by the node's own keyring. `about` is the URL that is sold, whose host the buyer expects as signer: a
 * seller may have several. `verify` accepts only our own keys.
 */
export type JwsPort = { sign(payload: Json, about?: string): string; verify(jws: string): Json | undefined }

/** How long a price we signed is honoured after it has changed. */
const offerValiditySeconds = 600

export type HonouredOffer = {
  scheme: string
  resourceUrl: string
  /** See `offeredRequest`. */
  request: string | undefined
  network: string
  asset: Address
  payTo: Address
  amountMicro: Micro
}

const emptyDigest = sha256('')

/**
 * What an offer is for beyond its URL; undefined for a plain GET. One address may sell at another price by another
 * method, and where the input decides the price, an offer for a small input must not buy a large one.
 */
export function offeredRequest(call: PaidCall): string | undefined {
  const bodyCounts = !call.route.fixedPrice && !(call.method === 'GET' && equalBytes(call.bodyDigest, emptyDigest))
  if (bodyCounts) return `${call.method} ${Buffer.from(call.bodyDigest).toString('base64url')}`
  return call.method === 'GET' ? undefined : call.method
}

/** Signed offers of the offer-receipt extension: a buyer can hold us to a price until `validUntil`. */
export function createOffers(jws: JwsPort, clock: Clock) {
  return {
    /** In the order of `accepts`. */
    sign(call: PaidCall, offered: readonly { scheme: string; terms: Terms }[]): Json[] {
      const { resourceUrl } = call
      const request = offeredRequest(call)
      const validUntil = nowSeconds(clock) + offerValiditySeconds
      return offered.map(({ scheme, terms }, acceptIndex) => ({
        format: 'jws',
        acceptIndex,
        signature: jws.sign(
          {
            version: 1,
            resourceUrl,
            ...(request === undefined ? {} : { request }),
            scheme,
            network: chainOfAsset(terms.network.caip2),
            asset: checksumAddress(terms.asset),
            payTo: checksumAddress(terms.payTo),
            amount: terms.amountMicro.toString(),
            validUntil,
          },
          resourceUrl,
        ),
      }))
    },
    /** The offer, when it is ours and still valid. */
    honour(signed: string): HonouredOffer | undefined {
      const payload = jws.verify(signed)
      if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return undefined
      const offer = payload as Record<string, Json>
      const asset = parseAddress(offer['asset'])
      const payTo = parseAddress(offer['payTo'])
      const amountMicro = typeof offer['amount'] === 'string' ? parseMicro(offer['amount']) : undefined
      const { scheme, resourceUrl, request, network, validUntil } = offer
      if (offer['version'] !== 1 || !asset || !payTo || amountMicro === undefined) return undefined
      if (typeof scheme !== 'string' || typeof resourceUrl !== 'string' || typeof network !== 'string') return undefined
      if (request !== undefined && typeof request !== 'string') return undefined
      if (typeof validUntil !== 'number' || validUntil < nowSeconds(clock)) return undefined
      return { scheme, resourceUrl, request, network, asset, payTo, amountMicro }
    },
  }
}

export type Offers = ReturnType<typeof createOffers>
