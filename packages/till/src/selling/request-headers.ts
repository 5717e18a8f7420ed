import { Problem } from '../kernel/problem.ts'
import { isPaymentCredential } from '../schemes/mpp/credential.ts'

export const headerBytesMax = 16 * 1024
/** Far more than clients and proxies send, and far fewer than fit into the bytes above. */
export const headerLinesMax = 100

// Two of these would let two readers of one request see different things.
const singular = new Set([
  'host',
  'authorization',
  'content-type',
  'content-encoding',
  'sign-in-with-x',
  'idempotency-key',
])
const singularPayment = new Set(['payment-signature', 'x-payment', 'payment-authorization'])

/**
 * Lower-cased header map. Lists are joined as RFC 9110 says; headers that decide identity or money may occur only once, and
 * those that an embedder adds.
 */
export function readHeaders(rawHeaders: readonly string[], alsoOnce?: string): Map<string, string> {
  if (rawHeaders.length > headerLinesMax * 2)
    throw new Problem('headers_too_large', { extra: { max_lines: headerLinesMax } })
  const headers = new Map<string, string>()
  let bytes = 0
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const rawName = rawHeaders[i] ?? ''
    const value = rawHeaders[i + 1] ?? ''
    bytes += rawName.length + value.length + 4
    if (bytes > headerBytesMax) throw new Problem('headers_too_large', { extra: { max_bytes: headerBytesMax } })
    const name = rawName.toLowerCase()
    const earlier = headers.get(name)
    if (earlier === undefined) headers.set(name, value)
    else if (singularPayment.has(name)) throw new Problem('payment_malformed', { detail: `${name} was sent twice.` })
    else if (singular.has(name) || name === alsoOnce)
      throw new Problem('bad_request', { detail: `The header ${name} was sent twice.` })
    else headers.set(name, `${earlier}, ${value}`)
  }
  return headers
}

/** Headers that can make an answer differ for the same URL: none of them, and the answer may be shared. */
const credentialHeaders = [
  'payment-signature',
  'x-payment',
  'payment-authorization',
  'authorization',
  'sign-in-with-x',
  'signature',
] as const

export function carriesCredential(headers: ReadonlyMap<string, string>): boolean {
  return credentialHeaders.some((name) => headers.has(name))
}

export function carriesPayment(headers: ReadonlyMap<string, string>): boolean {
  return (
    headers.has('payment-signature') ||
    headers.has('x-payment') ||
    headers.has('payment-authorization') ||
    isPaymentCredential(headers.get('authorization'))
  )
}
