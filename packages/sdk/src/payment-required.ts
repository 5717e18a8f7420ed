import { decodeHeader, isRecord } from '@assay/protocol/json-object'
import { AssayError } from './errors.ts'

export type Offer = {
  scheme: string
  network: string
  amount: string
  asset: string
  payTo: string
  maxTimeoutSeconds: number
  extra: Record<string, unknown>
  /** The entry as it was received: the payment must repeat it. */
  raw: Record<string, unknown>
}

export type PaymentRequired = {
  resource: Record<string, unknown> & { url: string }
  accepts: Offer[]
  extensions: Record<string, Record<string, unknown>>
}

const headerCharsMax = 16_384
const acceptsMax = 16

/** Reads PAYMENT-REQUIRED strictly: one field of the wrong type and nothing is signed. */
export function parsePaymentRequired(header: string | null): PaymentRequired {
  const malformed = (detail: string) => new AssayError('payment_required_malformed', { detail })
  if (header === null) throw malformed('the PAYMENT-REQUIRED header is missing')
  const value = decodeHeader(header, headerCharsMax)
  if (value === undefined) throw malformed('PAYMENT-REQUIRED is not base64 of a JSON object')
  if (value.x402Version !== 2) throw malformed('x402Version is not 2')
  const { resource, accepts, extensions = {} } = value
  if (!isRecord(resource) || typeof resource.url !== 'string' || !URL.canParse(resource.url))
    throw malformed('resource.url is not a URL')
  if (!Array.isArray(accepts) || accepts.length === 0 || accepts.length > acceptsMax)
    throw malformed('accepts is not a list of offers')
  if (!isRecord(extensions) || !Object.values(extensions).every(isRecord)) throw malformed('extensions are not objects')
  const aside = isRecord(extensions.credit) ? creditBeside(accepts[0], extensions.credit.info) : undefined
  return {
    resource: { ...resource, url: resource.url },
    accepts: [
      ...accepts.map((entry: unknown) => {
        const offer = parseOffer(entry)
        if (offer === undefined) throw malformed('an offer has a field of the wrong type')
        return offer
      }),
      // Where the list is full, credit is an extension.
      ...(aside ? [aside] : []),
    ],
    extensions: extensions as Record<string, Record<string, unknown>>,
  }
}

/** At the price and on the network of the first offer. */
function creditBeside(first: unknown, info: unknown): Offer | undefined {
  if (!isRecord(first) || !isRecord(info) || typeof info.proof !== 'string') return undefined
  const credit = { scheme: 'credit', network: first.network, amount: first.amount, asset: 'USDC', payTo: 'node' }
  return parseOffer({ ...credit, maxTimeoutSeconds: 60, extra: { proof: info.proof } })
}

function parseOffer(entry: unknown): Offer | undefined {
  if (!isRecord(entry)) return undefined
  const { scheme, network, amount, asset, payTo, maxTimeoutSeconds, extra = {} } = entry
  const texts = [scheme, network, amount, asset, payTo]
  if (!texts.every((text) => typeof text === 'string' && text.length <= 128)) return undefined
  if (typeof maxTimeoutSeconds !== 'number' || !Number.isSafeInteger(maxTimeoutSeconds)) return undefined
  if (!isRecord(extra)) return undefined
  const [s, n, a, t, p] = texts as [string, string, string, string, string]
  return { scheme: s, network: n, amount: a, asset: t, payTo: p, maxTimeoutSeconds, extra, raw: entry }
}
