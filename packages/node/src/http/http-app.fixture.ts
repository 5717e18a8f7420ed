import { toHex } from '@assay/protocol/bytes'
import type { PaidCall } from '@assay/till'
import type { Gate, GateOutcome } from '@assay/till/internal'
import { sha256 } from '@assay/till/kernel/bytes'
import { type Clock, systemClock } from '@assay/till/kernel/clock'
import { createIds } from '@assay/till/kernel/ids'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { Problem } from '@assay/till/kernel/problem'
import { systemRng } from '@assay/till/kernel/random'
import { jsonAnswer, type PlainRequest, type PlainResponse, tooLarge } from '@assay/till/selling'
import type { ResponseSigner, ResponseToSign } from '@assay/till/signing'
import { z } from 'zod'
import { createHttpApp, type HttpApp, type HttpAppDeps } from './http-app.ts'
import { createRegistry } from './registry.ts'
import { defineRoute, type RouteDeclaration } from './route.ts'

export const wallet = '0x1111111111111111111111111111111111111111'
export const otherWallet = '0x2222222222222222222222222222222222222222'

/** Shows what was signed, so that a test can see that every part of the exchange is covered. */
export function fakeSigner(): ResponseSigner & { signed: ResponseToSign[] } {
  const signed: ResponseToSign[] = []
  return {
    signed,
    sign: (response) => {
      signed.push(response)
      const digest = response.bodySha256 && `sha-256=:${Buffer.from(response.bodySha256).toString('base64')}:`
      return {
        ...(digest ? { 'content-digest': digest } : {}),
        'signature-input': 'sig=("@status");tag="x402-response"',
        signature: 'sig=:AA==:',
      }
    },
    keyId: () => 'test',
    signBytes: (bytes) => ({ signature: sha256(bytes), keyId: 'test' }),
  }
}

/** Takes any PAYMENT-SIGNATURE whose text is `good`; checks input before it "takes money", as the real gate does. */
export function fakeGate(): Gate & { calls: PaidCall[]; delivered: number; prepared: number } {
  const gate = {
    calls: [] as PaidCall[],
    delivered: 0,
    prepared: 0,
    challenge: (call: PaidCall) => {
      if (['payment-signature', 'x-payment', 'authorization'].some((name) => call.headers.has(name))) return undefined
      const body = {
        code: 'payment_required',
        resource: { url: call.resourceUrl },
        amount: call.priceMicro.toString(),
        input_problem: call.inputProblem?.code,
      }
      return { paymentRequired: Buffer.from(JSON.stringify(body)).toString('base64'), body: JSON.stringify(body) }
    },
    pass: async (call: PaidCall): Promise<GateOutcome> => {
      gate.calls.push(call)
      if (call.headers.get('payment-signature') !== 'good')
        return { kind: 'refused', problem: new Problem('payment_malformed') }
      if (call.inputProblem) return { kind: 'refused', problem: call.inputProblem }
      gate.prepared += 1
      const prepared = await call.prepare(wallet, 'pay_1')
      const delivered = () => {
        gate.delivered += 1
      }
      return { kind: 'served', answer: prepared.answer, paymentResponse: 'e30=', paymentId: 'pay_1', delivered }
    },
  }
  return gate
}

const echo = z.strictObject({ echo: z.unknown() })

/** A small shop: free, cacheable, paid by GET and POST, priced from the input, and one of area C. */
export function fixtureRoutes(): RouteDeclaration[] {
  const paid = { kind: 'paid', networks: ['eip155:8453'], payee: 'pay_to', revocable: false } as const
  const base = { area: 'A', method: 'GET', summary: 'A test route', output: echo, next: '/' } as const
  const example = { output: { echo: 1 } }
  return [
    defineRoute({
      ...base,
      id: 'free.thing',
      path: '/v1/thing/:id',
      params: z.strictObject({ id: z.string().min(1) }),
      query: z.strictObject({ limit: z.string().optional() }),
      example: { ...example, params: { id: '1' } },
      next: '/v1/report/:id',
      access: { kind: 'free', handle: async ({ params, query }) => jsonAnswer({ echo: { ...params, ...query } }) },
    }),
    defineRoute({
      ...base,
      id: 'free.cached',
      path: '/cached',
      example,
      cacheSeconds: 5,
      access: { kind: 'free', handle: async () => jsonAnswer({ echo: 'cached' }) },
    }),
    defineRoute({
      ...base,
      id: 'paid.report',
      path: '/v1/report/:id',
      params: z.strictObject({ id: z.string().regex(/^[0-9a-z]+$/) }),
      query: z.strictObject({ depth: z.string().optional() }),
      representations: ['application/json', 'text/csv'],
      example: { ...example, params: { id: '1' } },
      access: {
        ...paid,
        price: { kind: 'fixed', micro: 20_000n },
        routable: (params) => {
          if (params.id === 'nothing') throw new Problem('not_found')
        },
        prepare: async ({ params }) => ({ answer: jsonAnswer({ echo: params.id }) }),
      },
    }),
    defineRoute({
      ...base,
      id: 'paid.order',
      method: 'POST',
      path: '/v1/order',
      body: z.strictObject({ amount: z.int().min(1).max(9) }),
      example: { ...example, body: { amount: 2 } },
      bodyBytesMax: 1024,
      access: {
        ...paid,
        price: {
          kind: 'from_input',
          lowestMicro: 1_000n,
          highestMicro: 9_000n,
          of: ({ body }) => BigInt(body.amount) * 1_000n,
        },
        prepare: async ({ body }) => ({ answer: jsonAnswer({ echo: body.amount }) }),
      },
    }),
    defineRoute({
      ...base,
      id: 'c.note',
      area: 'C',
      method: 'POST',
      path: '/v1/note',
      body: z.strictObject({ text: z.string() }),
      example: { ...example, body: { text: 'x' } },
      access: { kind: 'free', handle: async ({ body }) => jsonAnswer({ echo: body.text }) },
    }),
  ]
}

export type TestApp = HttpApp & { gate: ReturnType<typeof fakeGate>; signer: ReturnType<typeof fakeSigner> }

type TestAppDeps = HttpAppDeps & { routes: readonly RouteDeclaration[] }

export function testApp(
  { routes = fixtureRoutes(), ...given }: Partial<TestAppDeps> = {},
  clock: Clock = systemClock,
): TestApp {
  const gate = fakeGate()
  const signer = fakeSigner()
  const app = createHttpApp({
    registry: createRegistry(routes),
    gate,
    signer,
    clock,
    ids: createIds(clock, systemRng),
    log: silentLog,
    metrics: silentMetrics,
    readiness: { refusal: () => undefined },
    ...given,
    config: {
      baseUrl: 'https://node.test',
      apiUrl: 'https://api.test',
      demo: false,
      royaltyRecipient: wallet,
      contentLicense: 'LicenseRef-Assay-1.0',
      limits: { perSecond: 1e6, burst: 1e6, badPaymentsPerMinute: 1e6 },
      ...given.config,
    },
  })
  return { ...app, gate, signer }
}

export type SentRequest = {
  method?: string
  target?: string
  host?: string | null
  headers?: Record<string, string>
  body?: string | Uint8Array
  remoteAddress?: string
}

export function plainRequest(sent: SentRequest): PlainRequest {
  const body = Buffer.from(sent.body ?? '')
  const controller = new AbortController()
  const host = sent.host === undefined ? 'node.test' : sent.host
  const headers = {
    ...(host === null ? {} : { Host: host }),
    ...(body.byteLength > 0 ? { 'Content-Length': String(body.byteLength), 'Content-Type': 'application/json' } : {}),
    ...sent.headers,
  }
  return {
    method: sent.method ?? 'GET',
    target: sent.target ?? '/',
    rawHeaders: Object.entries(headers).flat(),
    remoteAddress: sent.remoteAddress ?? '198.51.100.1',
    readBody: async (maxBytes) => {
      if (body.byteLength > maxBytes) throw tooLarge(maxBytes)
      return body
    },
    connection: controller.signal,
    ownSignal: () => controller.signal,
    abort: (reason) => controller.abort(reason),
  }
}

export type Seen = {
  status: number
  headers: Map<string, string>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  json: any
  plain: PlainResponse
}

export async function send(app: HttpApp, sent: SentRequest): Promise<Seen> {
  const request = plainRequest(sent)
  const shared = app.shared(request.method, request.target, request.rawHeaders, request.remoteAddress)
  const plain = shared ? { ...shared, body: Buffer.from(shared.body) } : await app.handle(request)
  const headers = new Map<string, string>()
  for (let i = 0; i < plain.headers.length; i += 2)
    headers.set(String(plain.headers[i]).toLowerCase(), String(plain.headers[i + 1]))
  const { body } = plain
  const text = typeof body === 'string' || body instanceof Uint8Array ? Buffer.from(body).toString() : ''
  const json = text.startsWith('{') ? JSON.parse(text) : undefined
  return { status: plain.status, headers, text, json, plain }
}

export const digestOf = (text: string) => toHex(sha256(text))
