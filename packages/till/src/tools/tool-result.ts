import type { Json } from '@assay/protocol/canonical-json'
import { parseJsonObject } from '@assay/protocol/json-object'
import { type Problem, problemBody } from '../kernel/problem.ts'
import { isStream, type PlainResponse } from '../selling/index.ts'
import { challengesIn, metaKeys, receiptMeta } from './payment-meta.ts'

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
  /** What a 402 asks for, and the same as challenges of the Payment scheme. */
  paymentRequired: Record<string, unknown> | undefined
  challenges: Json[]
  /** What was settled for this answer. */
  paymentResponse: unknown
  /** The same in the terms of the Payment scheme, for a caller that paid by it. */
  receipt: string | undefined
  /** Enough to check later that this node gave this answer. */
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
    paymentRequired: requiredIn(response),
    challenges: challengesIn(header(response, 'www-authenticate')),
    paymentResponse: fromBase64Json(header(response, 'payment-response')),
    receipt: header(response, 'payment-receipt'),
    signature: Object.fromEntries(signed.map((name) => [name, header(response, name) ?? ''])),
    next: header(response, 'x-x402-next'),
  }
}

/** Credit is drawn by a signed HTTP request, which no caller of a tool sends. */
function requiredIn(response: PlainResponse): Record<string, unknown> | undefined {
  const required = fromBase64Json(header(response, 'payment-required')) as
    | { accepts: { scheme: string }[]; extensions?: Record<string, unknown> }
    | undefined
  if (!required) return undefined
  const { credit: _, ...extensions } = required.extensions ?? {}
  return { ...required, accepts: required.accepts.filter(({ scheme }) => scheme !== 'credit'), extensions }
}

/** The HTTP request that the call represents, for callers who would rather send it themselves. */
export type AskedRequest = { method: string; url: string; body?: unknown }

/** What a result says beside its content, whatever became of the call. `meta`: what came with the call. */
export function resultMeta(answered: Answered, asked: AskedRequest, meta: unknown): Record<string, unknown> {
  const { status, text, challenges, paymentResponse, receipt, signature, next } = answered
  return {
    'assay/request': asked,
    'assay/response': { status, ...signature, ...(next === undefined ? {} : { next }) },
    ...(status === 402 ? { 'assay/problem': parseJsonObject(text) ?? text } : {}),
    ...(challenges.length === 0 ? {} : { [metaKeys.challenges]: { httpStatus: 402, challenges } }),
    ...(paymentResponse === undefined ? {} : { [metaKeys.paymentResponse]: paymentResponse }),
    ...receiptMeta(receipt, meta),
  }
}

/** What a 402 asks for, with the reason why a payment was refused. Undefined for any other answer. */
export function termsOf({ status, text, paymentRequired }: Answered): Record<string, unknown> | undefined {
  if (status !== 402 || paymentRequired === undefined) return undefined
  const { code, detail } = parseJsonObject(text) ?? {}
  return code === 'payment_required' || typeof detail !== 'string'
    ? paymentRequired
    : { ...paymentRequired, error: detail }
}

/**
 * What the model gets. A price to be paid is an error result with the requirements as data and as text, as x402 over MCP
 * has it; a problem is an error result with its hint, and where an outcome is not known, with where to follow it.
 */
export function toolResult(answered: Answered, asked: AskedRequest, meta?: unknown): ToolResult {
  const { status, text } = answered
  const terms = termsOf(answered)
  const structured = terms ?? parseJsonObject(text)
  return {
    ...(status >= 400 ? { isError: true } : {}),
    ...(structured === undefined ? {} : { structuredContent: structured }),
    content: [{ type: 'text', text: terms ? JSON.stringify(terms) : text }],
    _meta: resultMeta(answered, asked, meta),
  }
}

export function problemResult(problem: Problem, docsOrigin: string): ToolResult {
  const body = problemBody(problem, docsOrigin)
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(body) }], structuredContent: body }
}
