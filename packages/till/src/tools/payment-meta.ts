import { type Json, tryCanonicalJson } from '@assay/protocol/canonical-json'
import { asRecord } from '@assay/protocol/json-object'
import { Problem } from '../kernel/problem.ts'

/** Names of `_meta` under which payments travel with a call and its result. */
export const metaKeys = {
  payment: 'x402/payment',
  paymentResponse: 'x402/payment-response',
  credential: 'org.paymentauth/credential',
  receipt: 'org.paymentauth/receipt',
  challenges: 'org.paymentauth/payment-required',
} as const

const paymentBytesMax = 12_000

/** The headers that say over HTTP what `_meta` says of a payment. Two payments are two headers, which the gate refuses. */
export function paymentHeadersOf(meta: unknown): [name: string, value: string][] {
  const { [metaKeys.payment]: payment, [metaKeys.credential]: credential } = asRecord(meta) ?? {}
  const headers: [string, string][] = []
  if (payment !== undefined) headers.push(['payment-signature', encodePayment(payment)])
  if (credential !== undefined) headers.push(['payment-authorization', encodeCredential(credential)])
  return headers
}

function encodePayment(payment: unknown): string {
  if (!asRecord(payment)) throw malformed(`_meta["${metaKeys.payment}"] is the payment object of x402.`)
  return bounded(Buffer.from(JSON.stringify(payment)).toString('base64'))
}

/** Over MCP the request of a challenge is an object; the id that binds it was made from its canonical JSON. */
function encodeCredential(credential: unknown): string {
  const root = asRecord(credential)
  const challenge = asRecord(root?.['challenge'])
  if (!root || !challenge)
    throw malformed(`_meta["${metaKeys.credential}"] is the credential object of the Payment scheme.`)
  const request = typeof challenge['request'] === 'string' ? challenge['request'] : toBase64Json(challenge['request'])
  const written = JSON.stringify({ ...root, challenge: { ...challenge, request } })
  return bounded(`Payment ${Buffer.from(written).toString('base64url')}`)
}

function toBase64Json(value: unknown): string {
  const text = tryCanonicalJson(value)
  if (text === undefined) throw malformed('`challenge.request` is not JSON.')
  return Buffer.from(text).toString('base64url')
}

const malformed = (detail: string) => new Problem('payment_malformed', { detail })

function bounded(value: string): string {
  if (value.length > paymentBytesMax) throw malformed('The payment is too large.')
  return value
}

/** The challenges of a WWW-Authenticate header that we wrote, as MCP has them. */
export function challengesIn(header: string | undefined): Json[] {
  if (header === undefined) return []
  return header.split(/, (?=Payment id=)/).map((challenge) => {
    const named = Object.fromEntries(
      [...challenge.matchAll(/([a-z]+)="([^"]*)"/g)].map(([, name, value]) => [name as string, value as string]),
    )
    return { ...named, request: JSON.parse(Buffer.from(named['request'] ?? '', 'base64url').toString('utf8')) as Json }
  })
}

/** A receipt names the challenge that it answers. */
export function receiptMeta(header: string | undefined, meta: unknown): Record<string, unknown> {
  if (header === undefined) return {}
  const receipt = JSON.parse(Buffer.from(header, 'base64url').toString('utf8')) as Record<string, unknown>
  const challengeId = asRecord(asRecord(asRecord(meta)?.[metaKeys.credential])?.['challenge'])?.['id']
  return { [metaKeys.receipt]: { ...receipt, challengeId } }
}
