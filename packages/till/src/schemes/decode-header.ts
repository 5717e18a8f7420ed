import { parseAddress } from '@assay/protocol/address'
import { type Hex, isHex } from '@assay/protocol/bytes'
import { parseStrictJson } from '@assay/protocol/strict-json'
import type { PaymentEnvelope } from '../contract/scheme.ts'
import { sponsoringKey } from '../facilitators/permit2-payment.ts'
import { fromBase64 } from '../kernel/bytes.ts'
import { fields, isAmount, own } from './read-fields.ts'

export type HeaderOutcome =
  | { status: 'ok'; envelope: PaymentEnvelope }
  | { status: 'malformed'; detail: string }
  | { status: 'version_1' }

export const paymentHeaderBytesMax = 12_288
const depthMax = 24
const identifierPattern = /^[A-Za-z0-9_-]{16,128}$/

type Fields = Record<string, unknown>

const malformed = (detail: string): HeaderOutcome => ({ status: 'malformed', detail })

/** Canonical base64 of strict JSON: anyone else who reads this payment must not find another one in it. */
export function decodeHeader(header: string): HeaderOutcome {
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

function decodeVersion2(root: Fields): HeaderOutcome {
  const accepted = fields(own(root, 'accepted'))
  if (!accepted) return malformed('`accepted` is missing')
  const scheme = own(accepted, 'scheme')
  const network = own(accepted, 'network')
  const amount = own(accepted, 'amount')
  if (typeof scheme !== 'string' || typeof network !== 'string') return malformed('`accepted` needs scheme and network')
  if (!isAmount(amount)) return malformed('`accepted.amount` must be an integer in atomic units')
  const resource = own(root, 'resource')
  const resourceUrl = typeof resource === 'string' ? resource : own(fields(resource), 'url')
  if (resource !== undefined && typeof resourceUrl !== 'string') return malformed('`resource.url` must be text')
  const extensions = decodeExtensions(fields(own(root, 'extensions')))
  if (typeof extensions === 'string') return malformed(extensions)
  return {
    status: 'ok',
    envelope: {
      scheme,
      network,
      amount,
      asset: parseAddress(own(accepted, 'asset')),
      payTo: parseAddress(own(accepted, 'payTo')),
      resourceUrl: resourceUrl as string | undefined,
      payload: fields(own(root, 'payload')),
      ...extensions,
    },
  }
}

type Extensions = Pick<PaymentEnvelope, 'identifier' | 'bindingSalt' | 'offers' | 'sponsoring'>

function decodeExtensions(extensions: Fields | undefined): Extensions | string {
  const info = (key: string) => fields(own(fields(own(extensions, key)), 'info'))
  const identifier = own(info('payment-identifier'), 'id')
  if (identifier !== undefined && (typeof identifier !== 'string' || !identifierPattern.test(identifier)))
    return 'payment-identifier id must be 16 to 128 of A-Z a-z 0-9 _ -'
  const salt = own(info('request-binding'), 'salt')
  if (salt !== undefined && !isHex(salt, 32)) return 'request-binding salt must be 32 bytes of hex'
  const sponsoring = info(sponsoringKey)
  return {
    ...(sponsoring === undefined ? {} : { sponsoring }),
    identifier: identifier as string | undefined,
    bindingSalt: salt === undefined ? undefined : (salt.toLowerCase() as Hex),
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
