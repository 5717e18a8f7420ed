import type { Problem } from '../kernel/problem.ts'
import { problemBody } from '../kernel/problem.ts'
import type { ResponseSigner } from '../signing/index.ts'
import { digestBody } from './digest.ts'
import {
  dataSecurityHeaders,
  isData,
  isHeaderName,
  isReserved,
  pageSecurityHeaders,
  safeHeaderValue,
} from './header-rules.ts'
import { emptyBody, isStream, type PlainResponse } from './plain.ts'

/** What a response needs to know of its request. */
export type Exchange = {
  requestId: string
  method: string
  authority: string
  path: string
  query: string
}

export type ResponseParts = {
  status: number
  contentType: string
  body: Uint8Array | string | AsyncIterable<Uint8Array | string>
  cacheControl: string
  /** An answer that was paid for or covered by an entitlement. */
  paid?: boolean
  paymentRequired?: string | undefined
  paymentResponse?: string | undefined
  paymentReceipt?: string | undefined
  headers?: Record<string, string> | undefined
}

export type PaymentHeaders = { paymentRequired?: string | undefined; paymentResponse?: string | undefined }

export type Responder<E extends Exchange = Exchange> = {
  respond(exchange: E, parts: ResponseParts): PlainResponse
  problem(exchange: E, problem: Problem, payment?: PaymentHeaders): PlainResponse
}

export type ResponderConfig<E extends Exchange> = {
  /** Where the `type` of a problem resolves. */
  docsOrigin: string
  https: boolean
  /** Names and values that every response carries. */
  fixedHeaders: readonly string[]
  /** Somebody else writes the responses out, and must not change a byte: digest and signature would break. */
  noTransform?: true
  /** Lower-case names of those that `add` writes: a handler that names one is ignored. */
  reserved?: ReadonlySet<string>
  /** Adds names and values that depend on the exchange. */
  add?(headers: string[], exchange: E, parts: ResponseParts): void
}

/** The one place where a response is put together: digest, signature, payment headers, caching. */
export function createResponder<E extends Exchange>(signer: ResponseSigner, config: ResponderConfig<E>): Responder<E> {
  const { fixedHeaders } = config
  const kindOf = (security: readonly [string, string][]) => ({
    security,
    allHeaders: [...fixedHeaders, ...security.flat()],
  })
  const data = kindOf(dataSecurityHeaders(config.https))
  const page = kindOf(pageSecurityHeaders(config.https))

  const respond = (exchange: E, parts: ResponseParts): PlainResponse => {
    const body = bodyOf(exchange, parts)
    const headers = ['Content-Type', parts.contentType]
    if (!isStream(body) && exchange.method !== 'HEAD' && parts.status !== 204)
      headers.push('Content-Length', String(Buffer.byteLength(body)))
    pushSignature(headers, signer, exchange, parts, body)
    if (parts.paymentRequired !== undefined) headers.push('PAYMENT-REQUIRED', parts.paymentRequired)
    if (parts.paymentResponse !== undefined) headers.push('PAYMENT-RESPONSE', parts.paymentResponse)
    if (parts.paymentReceipt !== undefined) headers.push('Payment-Receipt', parts.paymentReceipt)
    headers.push('Cache-Control', config.noTransform ? `${parts.cacheControl}, no-transform` : parts.cacheControl)
    config.add?.(headers, exchange, parts)
    const kind = isData(parts.contentType) ? data : page
    if (parts.headers === undefined) return { status: parts.status, headers: headers.concat(kind.allHeaders), body }
    const own = ownHeaders(parts.headers, config.reserved)
    headers.push(...fixedHeaders)
    for (const [name, value] of kind.security) if (!own.has(name.toLowerCase())) headers.push(name, value)
    for (const [name, value] of own.values()) headers.push(name, value)
    return { status: parts.status, headers, body }
  }

  return {
    respond,
    problem: (exchange, problem, payment = {}) =>
      respond(exchange, {
        status: problem.status,
        contentType: 'application/problem+json',
        body: JSON.stringify(problemBody(problem, config.docsOrigin, exchange.requestId)),
        cacheControl: 'no-store',
        paymentRequired: payment.paymentRequired,
        paymentResponse: payment.paymentResponse,
        headers: problemHeaders(problem),
      }),
  }
}

/** HEAD and 204 carry no content; a stream behind them must still be stopped. */
function bodyOf(exchange: Exchange, parts: ResponseParts): PlainResponse['body'] {
  const { body } = parts
  const bodiless = exchange.method === 'HEAD' || parts.status === 204
  if (!bodiless) return body
  if (isStream(body)) void body[Symbol.asyncIterator]().return?.()
  return emptyBody
}

function pushSignature(
  headers: string[],
  signer: ResponseSigner,
  exchange: Exchange,
  parts: ResponseParts,
  body: PlainResponse['body'],
): void {
  const { paymentRequired, paymentResponse, paymentReceipt } = parts
  const signed = signer.sign({
    status: parts.status,
    contentType: parts.contentType,
    bodySha256: isStream(body) ? undefined : digestBody(body),
    ...(paymentRequired === undefined ? {} : { paymentRequired }),
    ...(paymentResponse === undefined ? {} : { paymentResponse }),
    ...(paymentReceipt === undefined ? {} : { paymentReceipt }),
    method: exchange.method,
    authority: exchange.authority,
    path: exchange.path,
    query: exchange.query,
  })
  const digest = signed['content-digest']
  if (digest !== undefined) headers.push('Content-Digest', digest)
  headers.push('Signature-Input', signed['signature-input'], 'Signature', signed.signature)
}

function ownHeaders(given: Record<string, string>, reserved?: ReadonlySet<string>): Map<string, [string, string]> {
  const own = new Map<string, [string, string]>()
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase()
    if (isHeaderName(name) && !isReserved(lower) && !reserved?.has(lower) && lower !== 'cache-control')
      own.set(lower, [name, safeHeaderValue(value)])
  }
  return own
}

/** A 429 or 503 always says when to come back. */
function problemHeaders(problem: Problem): Record<string, string> | undefined {
  const { retryAfterSeconds, headers } = problem.details
  const seconds = retryAfterSeconds ?? (problem.status === 429 || problem.status === 503 ? 5 : undefined)
  if (headers === undefined && seconds === undefined) return undefined
  return { ...headers, ...(seconds === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) }) }
}
