import { Problem, problemBody } from '../kernel/problem.ts'
import { isStream, type PlainResponse } from '../selling/index.ts'

/** The result of a tool call, as the Model Context Protocol has it. */
export type ToolResult = {
  isError?: boolean
  content: { type: 'text'; text: string }[]
  structuredContent?: Record<string, unknown>
  _meta?: Record<string, unknown>
}

const header = (response: PlainResponse, name: string): string | undefined => {
  for (let index = 0; index + 1 < response.headers.length; index += 2)
    if (response.headers[index]?.toLowerCase() === name) return response.headers[index + 1]
  return undefined
}

const fromBase64Json = (value: string | undefined): unknown =>
  value === undefined ? undefined : JSON.parse(Buffer.from(value, 'base64').toString('utf8'))

export type Answered = {
  status: number
  contentType: string
  text: string
  /** What a 402 asks for. */
  paymentRequired: unknown
  /** What was settled for this answer. */
  paymentResponse: unknown
  /** Enough to check later that this node gave this very answer. */
  signature: Record<string, string>
  next: string | undefined
}

export async function readAnswer(response: PlainResponse): Promise<Answered> {
  const { body } = response
  if (isStream(body)) throw new Error('a tool was answered with a stream')
  const signed = ['content-type', 'content-digest', 'signature-input', 'signature']
  return {
    status: response.status,
    contentType: header(response, 'content-type') ?? '',
    text: typeof body === 'string' ? body : Buffer.from(body).toString('utf8'),
    paymentRequired: fromBase64Json(header(response, 'payment-required')),
    paymentResponse: fromBase64Json(header(response, 'payment-response')),
    signature: Object.fromEntries(signed.map((name) => [name, header(response, name) ?? ''])),
    next: header(response, 'x-x402-next'),
  }
}

/** The HTTP request that the call stood for, for callers who would rather send it themselves. */
export type AskedRequest = { method: string; url: string; body?: unknown }

/**
 * What the model gets. A price to be paid is an error result with the requirements as data and as text, as x402 over MCP
 * has it; a problem is an error result with its hint.
 */
export function toolResult(answered: Answered, asked: AskedRequest): ToolResult {
  const { status, text, paymentRequired, paymentResponse, signature, next } = answered
  const meta = {
    'assay/request': asked,
    'assay/response': { status, ...signature, ...(next === undefined ? {} : { next }) },
    ...(paymentResponse === undefined ? {} : { 'x402/payment-response': paymentResponse }),
  }
  if (status === 402 && paymentRequired !== undefined) {
    const terms = paymentRequired as Record<string, unknown>
    return {
      isError: true,
      structuredContent: terms,
      content: [{ type: 'text', text: JSON.stringify(terms) }],
      _meta: { ...meta, 'assay/problem': objectIn(text) ?? text },
    }
  }
  const structured = objectIn(text)
  return {
    ...(status >= 400 ? { isError: true } : {}),
    ...(structured === undefined ? {} : { structuredContent: structured }),
    content: [{ type: 'text', text }],
    _meta: meta,
  }
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

export function problemResult(problem: Problem, docsOrigin: string): ToolResult {
  const body = problemBody(problem, docsOrigin)
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(body) }], structuredContent: body }
}

const paymentBytesMax = 12_000

/** Over HTTP a payment is base64 of its JSON in a header; over MCP it is the object itself. */
export function encodePayment(payment: unknown): string {
  if (payment === null || typeof payment !== 'object' || Array.isArray(payment))
    throw new Problem('payment_malformed', { detail: '_meta["x402/payment"] is the payment object of x402.' })
  const encoded = Buffer.from(JSON.stringify(payment)).toString('base64')
  if (encoded.length > paymentBytesMax) throw new Problem('payment_malformed', { detail: 'The payment is too large.' })
  return encoded
}
