import {
  createResponder,
  type Responder as HttpResponder,
  isStream,
  type ResponseParts,
  type Exchange as SignedExchange,
} from '@assay/till/selling'
import type { ResponseSigner } from '@assay/till/signing'
import { type MadeHop, madeId } from './next-hop.ts'
import { corsHeaders, ownHeaders, royaltyBps, royaltyHeaders } from './response-headers.ts'
import type { RouteDeclaration } from './route.ts'

/** What a response needs to know of its request. */
export type Exchange = SignedExchange & {
  route: RouteDeclaration | undefined
  /** Whether answers of this path name the royalty, errors included. */
  royalty: boolean
  /** Path of the route that helps the caller next. */
  next: string
  madeHop?: MadeHop
}

export type Responder = HttpResponder<Exchange>

export type ResponderConfig = {
  royaltyRecipient: string
  contentLicense: string
  /** Where the `type` of a problem resolves. */
  docsOrigin: string
  https: boolean
  rateLimitPolicy: string
}

/** Responses of the node: beside what every seller's carry, next hop, royalty, limits and CORS. */
export function createNodeResponder(signer: ResponseSigner, config: ResponderConfig): Responder {
  const royalty = [
    ...[royaltyHeaders.recipient, config.royaltyRecipient],
    ...[royaltyHeaders.bps, String(royaltyBps)],
    ...[royaltyHeaders.license, config.contentLicense],
  ]
  return createResponder<Exchange>(signer, {
    docsOrigin: config.docsOrigin,
    https: config.https,
    reserved: ownHeaders,
    fixedHeaders: [...corsHeaders, 'RateLimit-Policy', config.rateLimitPolicy],
    add: (headers, exchange, parts) => {
      headers.push('X-x402-Next', exchange.madeHop ? nextOf(exchange, parts) : exchange.next)
      if (parts.paid || exchange.royalty) headers.push(...royalty)
    },
  })
}

/** The route's next hop, or the thing that the answer has just made. */
function nextOf({ next, madeHop }: Exchange, { status, body }: ResponseParts): string {
  const id = status === 200 && !isStream(body) ? madeId(body) : undefined
  return id === undefined || madeHop === undefined ? next : madeHop(id)
}
