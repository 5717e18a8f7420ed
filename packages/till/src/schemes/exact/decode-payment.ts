import { type Address, parseAddress } from '@assay/protocol/address'
import { fromBase64 } from '@assay/protocol/base64'
import { type Hex, isHex } from '@assay/protocol/bytes'
import { parseStrictJson } from '@assay/protocol/strict-json'

/** What a client wrote, checked for shape only. Our own terms decide what it is worth. */
export type DecodedPayment = {
  scheme: string
  network: string
  asset: Address | undefined
  payTo: Address | undefined
  amount: string
  resourceUrl: string | undefined
  authorization: {
    from: Address
    to: Address
    value: bigint
    validAfter: bigint
    validBefore: bigint
    nonce: Hex
  }
  signature: Hex
  identifier: string | undefined
  bindingSalt: Hex | undefined
  hasBinding: boolean
  /** Compact JWS offers the client echoed, for a price that has moved since. */
  offers: string[]
}

/** Scheme `credit`: what was agreed to. Who pays is proven by the signature of the request itself, not by this. */
export type CreditPayment = { amount: string; network: string; resourceUrl: string | undefined }

export type DecodeOutcome =
  | { status: 'ok'; payment: DecodedPayment }
  | { status: 'malformed'; detail: string }
  | { status: 'version_1' }
  | { status: 'credit'; credit: CreditPayment }
  | { status: 'unsupported'; reason: string; detail: string }

export const paymentHeaderBytesMax = 12_288
const depthMax = 24
const signatureBytesMax = 4_096
const uintPattern = /^(0|[1-9][0-9]{0,77})$/
const uint256Max = 2n ** 256n - 1n
const identifierPattern = /^[A-Za-z0-9_-]{16,128}$/

type Fields = Record<string, unknown>

const malformed = (detail: string): DecodeOutcome => ({ status: 'malformed', detail })

function fields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
}

function own(object: Fields | undefined, key: string): unknown {
  return object && Object.hasOwn(object, key) ? object[key] : undefined
}

function uint(value: unknown): bigint | undefined {
  if (typeof value !== 'string' || !uintPattern.test(value)) return undefined
  const parsed = BigInt(value)
  return parsed <= uint256Max ? parsed : undefined
}

/** Canonical base64 of strict JSON: whoever else reads this payment must not find another one in it. */
export function decodePayment(header: string): DecodeOutcome {
  if (header.length > paymentHeaderBytesMax) return malformed(`longer than ${paymentHeaderBytesMax} bytes`)
  const bytes = fromBase64(header)
  if (!bytes?.length) return malformed('not canonical base64')
  const json = parseStrictJson(bytes, depthMax)
  if (json.status === 'malformed') return malformed(json.problem)
  const root = fields(json.value)
  if (!root) return malformed('not a JSON object')
  if (own(root, 'x402Version') === 1) return { status: 'version_1' }
  if (own(root, 'x402Version') !== 2) return malformed('x402Version must be 2')
  return decodeVersion2(root)
}

function decodeVersion2(root: Fields): DecodeOutcome {
  const accepted = fields(own(root, 'accepted'))
  if (!accepted) return malformed('`accepted` is missing')
  const scheme = own(accepted, 'scheme')
  const network = own(accepted, 'network')
  const amount = own(accepted, 'amount')
  if (typeof scheme !== 'string' || typeof network !== 'string') return malformed('`accepted` needs scheme and network')
  if (typeof amount !== 'string' || !uintPattern.test(amount))
    return malformed('`accepted.amount` must be an integer in atomic units')
  const resource = own(root, 'resource')
  const resourceUrl = typeof resource === 'string' ? resource : own(fields(resource), 'url')
  if (resource !== undefined && typeof resourceUrl !== 'string') return malformed('`resource.url` must be text')
  if (scheme === 'credit')
    return { status: 'credit', credit: { amount, network, resourceUrl: resourceUrl as string | undefined } }
  if (scheme !== 'exact')
    return { status: 'unsupported', reason: 'unsupported_scheme', detail: 'Schemes exact and credit are taken.' }

  const payload = fields(own(root, 'payload'))
  if (!payload) return malformed('`payload` is missing')
  if (own(payload, 'permit2Authorization') !== undefined)
    return {
      status: 'unsupported',
      reason: 'unsupported_asset_transfer_method',
      detail: 'Sign EIP-3009; Permit2 is not taken.',
    }
  const authorization = decodeAuthorization(fields(own(payload, 'authorization')))
  if (typeof authorization === 'string') return malformed(authorization)
  const signature = own(payload, 'signature')
  if (!isHex(signature) || signature.length < 4 || signature.length > 2 + signatureBytesMax * 2)
    return malformed('`payload.signature` is not hex of a sensible length')

  const extensions = decodeExtensions(fields(own(root, 'extensions')))
  if (typeof extensions === 'string') return malformed(extensions)
  return {
    status: 'ok',
    payment: {
      scheme,
      network,
      amount,
      asset: parseAddress(own(accepted, 'asset')),
      payTo: parseAddress(own(accepted, 'payTo')),
      resourceUrl: resourceUrl as string | undefined,
      authorization,
      signature: signature.toLowerCase() as Hex,
      ...extensions,
    },
  }
}

function decodeAuthorization(value: Fields | undefined): DecodedPayment['authorization'] | string {
  if (!value) return '`payload.authorization` is missing'
  const from = parseAddress(own(value, 'from'))
  const to = parseAddress(own(value, 'to'))
  const amount = uint(own(value, 'value'))
  const validAfter = uint(own(value, 'validAfter'))
  const validBefore = uint(own(value, 'validBefore'))
  const nonce = own(value, 'nonce')
  if (!from || !to) return '`payload.authorization` needs addresses in from and to'
  if (amount === undefined || validAfter === undefined || validBefore === undefined)
    return '`payload.authorization` needs value, validAfter and validBefore as decimal text'
  if (!isHex(nonce, 32)) return '`payload.authorization.nonce` must be 32 bytes of hex'
  return { from, to, value: amount, validAfter, validBefore, nonce: nonce.toLowerCase() as Hex }
}

type Extensions = Pick<DecodedPayment, 'identifier' | 'bindingSalt' | 'hasBinding' | 'offers'>

function decodeExtensions(extensions: Fields | undefined): Extensions | string {
  const info = (key: string) => fields(own(fields(own(extensions, key)), 'info'))
  const identifier = own(info('payment-identifier'), 'id')
  if (identifier !== undefined && (typeof identifier !== 'string' || !identifierPattern.test(identifier)))
    return 'payment-identifier id must be 16 to 128 of A-Z a-z 0-9 _ -'
  const binding = info('request-binding')
  const salt = own(binding, 'salt')
  if (salt !== undefined && !isHex(salt, 32)) return 'request-binding salt must be 32 bytes of hex'
  return {
    identifier: identifier as string | undefined,
    bindingSalt: salt === undefined ? undefined : (salt.toLowerCase() as Hex),
    hasBinding: salt !== undefined,
    offers: decodeOffers(own(info('offer-receipt'), 'offers')),
  }
}

/** An offer that cannot be read is no offer; the current price then decides. */
function decodeOffers(offers: unknown): string[] {
  if (!Array.isArray(offers)) return []
  return offers
    .slice(0, 8)
    .map((offer) => own(fields(offer), 'signature'))
    .filter((jws): jws is string => typeof jws === 'string' && jws.length < 4_096)
}
