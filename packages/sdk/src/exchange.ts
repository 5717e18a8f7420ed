import { readLimited } from '@assay/protocol/read-limited'
import type { ReceivedResponse } from '@assay/protocol/signatures/verify-response'
import { AssayError } from './errors.ts'
import type { Platform } from './platform.ts'

/** A request whose bytes are known, so that it can be bound to a payment and sent again. */
export type PreparedRequest = {
  url: string
  method: string
  headers: Headers
  body: Uint8Array<ArrayBuffer>
  signal: AbortSignal | null
}

export type Exchange = ReceivedResponse & { response: Response }

export const bodyBytesMax = 1_048_576

/** A refusal says why in a few kilobytes; an answer may be a year of figures. */
const refusalBytesMax = 1_048_576
const answerBytesMax = 134_217_728

/** Longer than a node may take to prepare and settle: a node that is silent for this long will not answer any more. */
const attemptMsMax = 75_000

export async function prepareRequest(url: string | URL, init: RequestInit = {}): Promise<PreparedRequest> {
  // Without the signal, on which every Request leaves a listener: callers share one among all their purchases.
  const request = new Request(url, { ...init, signal: null })
  const body = new Uint8Array(await request.arrayBuffer())
  if (body.byteLength > bodyBytesMax) throw new AssayError('body_too_large')
  return { url: request.url, method: request.method, headers: request.headers, body, signal: init.signal ?? null }
}

/** Sends it once. Redirects are refused: a payment must reach the host it was signed for, and no other. */
export async function exchange(
  platform: Platform,
  prepared: PreparedRequest,
  paymentHeader?: string,
): Promise<Exchange> {
  const headers = new Headers(prepared.headers)
  if (paymentHeader !== undefined) headers.set(headerFor(paymentHeader, headers), paymentHeader)
  const { method, body } = prepared
  const limit = platform.timeout(attemptMsMax)
  const signal = eitherSignal(prepared.signal, limit.signal)
  try {
    const response = await platform.fetch(
      new Request(prepared.url, {
        method,
        headers,
        signal,
        redirect: 'error',
        ...(body.byteLength > 0 ? { body } : {}),
      }),
    )
    const isStream =
      response.status === 200 && (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
    if (isStream) return { status: 200, headers: response.headers, body: undefined, response }
    const bytesMax = response.ok ? answerBytesMax : refusalBytesMax
    const bytes = await readLimited(response.body, bytesMax)
    if (bytes === 'too_large')
      throw new AssayError('answer_too_large', { detail: `status ${response.status}, more than ${bytesMax} bytes` })
    return { status: response.status, headers: response.headers, body: bytes, response: rebuild(response, bytes) }
  } finally {
    limit.clear()
  }
}

/** A credential of the Payment scheme begins with its name; where Authorization is taken, it has a header to itself. */
function headerFor(payment: string, headers: Headers): string {
  if (!payment.startsWith('Payment ')) return 'PAYMENT-SIGNATURE'
  return headers.has('authorization') ? 'Payment-Authorization' : 'Authorization'
}

export function eitherSignal(given: AbortSignal | null, limit: AbortSignal): AbortSignal {
  if (given === null) return limit
  // The first Node 20 releases cannot join signals; the caller's own wins there.
  return typeof AbortSignal.any === 'function' ? AbortSignal.any([given, limit]) : given
}

const bodyless = new Set([204, 205, 304])

/** The body was read to check its digest, so the caller gets a response that can be read again. */
function rebuild(response: Response, bytes: Uint8Array<ArrayBuffer>): Response {
  const { status, statusText, headers } = response
  return new Response(bodyless.has(status) ? null : bytes, { status, statusText, headers })
}

/** Fields of an RFC 9457 body that steer the client. */
export function problemOf({ body }: Exchange): { code?: string; reason?: string; statusUrl?: string } {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body))
    const { code, reason, status_url } = (value ?? {}) as Record<string, unknown>
    return {
      ...(typeof code === 'string' ? { code } : {}),
      ...(typeof reason === 'string' ? { reason } : {}),
      ...(typeof status_url === 'string' ? { statusUrl: status_url } : {}),
    }
  } catch {
    return {}
  }
}
