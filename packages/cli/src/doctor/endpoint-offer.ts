import { isLoopbackUrl } from '@assay/protocol/loopback'
import { knownNetworks, type Offer, type PaymentRequired, parsePaymentRequired } from '@assay/sdk'
import { type Check, fail, ok, warn } from './check.ts'
import type { Seen } from './gather-endpoint.ts'

/** Longer headers have been seen to fail at clients and proxies. */
const headerBytesMax = 3_072

/** The 402 itself: can a buyer read it, and does it make sense? */
export function checkOffer(seen: Seen): Check[] {
  const { status, headers } = seen.first
  if (status !== 402) return [notSold(seen)]
  const checks = [ok('402', 'an unpaid request is answered with 402')]
  const header = headers.get('payment-required')
  if (header === null) return [...checks, withoutHeader(seen)]
  checks.push(
    header.length < headerBytesMax
      ? ok('header size', `PAYMENT-REQUIRED has ${header.length} bytes`)
      : warn(
          'header size',
          `PAYMENT-REQUIRED has ${header.length} bytes`,
          'keep it under 3 kB; move long texts and offers into the body',
        ),
  )
  const required = parse(header)
  if (typeof required === 'string')
    return [...checks, fail('offer', required, 'PAYMENT-REQUIRED is base64 of a JSON PaymentRequired, x402Version 2')]
  checks.push(ok('offer', `${required.accepts.length} way${required.accepts.length === 1 ? '' : 's'} to pay`))
  checks.push(checkResource(seen.url, required))
  for (const offer of required.accepts) checks.push(checkAccept(offer, isLoopbackUrl(seen.url)))
  return [...checks, ...checkExtensions(required)]
}

function notSold({ first, method }: Seen): Check {
  const fix =
    first.status === 404
      ? 'is the path right? Indexers skip routes that do not answer 402 to a bare request'
      : 'answer 402 to a bare request, before looking at its input: indexers and buyers begin with one'
  return fail('402', `an unpaid ${method} is answered with ${first.status}`, fix)
}

function withoutHeader({ first }: Seen): Check {
  const body = new TextDecoder().decode(first.body)
  const v1 = /"x402Version"\s*:\s*1\b/.test(body)
  return v1
    ? fail(
        'offer',
        'this seller speaks x402 version 1',
        'send the PAYMENT-REQUIRED header of version 2; most buyers have moved',
      )
    : fail('offer', 'PAYMENT-REQUIRED is missing', 'send it as a header: base64 of the PaymentRequired JSON')
}

function parse(header: string): PaymentRequired | string {
  try {
    return parsePaymentRequired(header)
  } catch (error) {
    return (error as Error).message
  }
}

function checkResource(url: string, required: PaymentRequired): Check {
  const asked = new URL(url)
  const quoted = new URL(required.resource.url)
  if (asked.origin === quoted.origin && asked.pathname === quoted.pathname)
    return ok('resource', 'the offer names what was asked for')
  return fail(
    'resource',
    `the offer is for ${quoted.origin}${quoted.pathname}`,
    'name the resource by its public address; behind a proxy, from configuration and not from the Host header',
  )
}

function checkAccept(offer: Offer, local: boolean): Check {
  const name = `accepts ${offer.network}`
  // Prepaid credit moves no token: it names a unit and a role where others have addresses.
  if (offer.scheme === 'credit') return ok(name, 'prepaid credit, for clients that know it')
  const wrong = wrongWith(offer)
  if (wrong !== undefined) return fail(name, ...wrong)
  const known = knownNetworks.find((asset) => asset.network === offer.network)
  const usd = `${Number(offer.amount) / 1e6} USDC to ${offer.payTo}`
  if (known === undefined)
    return warn(name, 'a network this program does not know', 'most buyers pay on Base; offer eip155:8453 as well')
  if (offer.asset.toLowerCase() !== known.usdc.toLowerCase())
    return local
      ? ok(name, `${usd}, in its own asset (a demo chain)`)
      : warn(
          name,
          `the asset ${offer.asset} is not the USDC of ${offer.network}`,
          'buyers refuse assets they do not know',
        )
  if (offer.extra.name !== known.name || offer.extra.version !== known.version)
    return fail(
      name,
      `extra says ${JSON.stringify(offer.extra.name)} version ${JSON.stringify(offer.extra.version)}`,
      `the EIP-712 domain is name "${known.name}", version "${known.version}"; signatures for another one do not settle`,
    )
  return ok(name, usd)
}

function wrongWith(offer: Offer): [string, string] | undefined {
  if (!/^[a-z0-9-]{3,8}:[-_a-zA-Z0-9]{1,32}$/.test(offer.network))
    return [`"${offer.network}" is no CAIP-2 name`, 'write eip155:8453 for Base, eip155:137 for Polygon']
  if (!/^[1-9][0-9]{0,17}$/.test(offer.amount))
    return [`the amount "${offer.amount}" is not in atomic units`, 'USDC has six decimals: 0.02 USD is "20000"']
  if (!offer.network.startsWith('eip155:')) return undefined
  if (!/^0x[0-9a-fA-F]{40}$/.test(offer.payTo) || /^0x0{40}$/.test(offer.payTo))
    return [`payTo "${offer.payTo}" is no address to pay to`, 'give the checksummed address of a wallet you hold']
  if (offer.maxTimeoutSeconds < 5 || offer.maxTimeoutSeconds > 3_600)
    return [
      `maxTimeoutSeconds is ${offer.maxTimeoutSeconds}`,
      'give 30 to 300 seconds: time to settle, and not much more',
    ]
  return undefined
}

function checkExtensions({ extensions }: PaymentRequired): Check[] {
  const has = (name: string) => extensions[name] !== undefined
  return [
    has('bazaar')
      ? ok('discovery', 'the bazaar block tells indexers and agents how to call it')
      : warn(
          'discovery',
          'no bazaar extension',
          'add one with input and output, or agents cannot find out how to call this',
        ),
    has('payment-identifier')
      ? ok('lost answers', 'payment-identifier lets a buyer ask again without paying again')
      : warn(
          'lost answers',
          'no payment-identifier',
          'offer it: a buyer whose connection breaks cannot get what it paid for',
        ),
  ]
}
