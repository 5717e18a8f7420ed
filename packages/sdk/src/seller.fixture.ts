import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { encodeHeader } from '@assay/protocol/json-object'
import { bindingTag } from '@assay/protocol/request-binding'
import type { Platform } from './platform.ts'

/** A seller in memory, honest unless a test alters it. Tests only: it uses node:crypto. */
export type SellerAnswer = { status: number; body: unknown; headers?: Record<string, string> }

export type TestSeller = {
  platform: Platform
  /** Decoded PAYMENT-SIGNATURE of every paid request. */
  payments: SeenPayment[]
  requests: Request[]
  sleeps: number[]
  advance(ms: number): void
}

export type SeenPayment = {
  accepted: Record<string, unknown>
  payload: { signature: `0x${string}`; authorization: Record<string, string> }
  extensions?: Record<string, { info: Record<string, unknown> }>
}

export const sellerOrigin = 'https://node.example'
export const sellerPayTo = '0x00000000000000000000000000000000000000F1'
export const testUsdc = '0x00000000000000000000000000000000000000C0'

export const honestOffer = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '1000',
  asset: testUsdc,
  payTo: sellerPayTo,
  maxTimeoutSeconds: 60,
  extra: { name: 'USD Coin', version: '2' },
}

export function challenge(url: string, change: Record<string, unknown> = {}): SellerAnswer {
  const required = {
    x402Version: 2,
    resource: { url },
    accepts: [honestOffer],
    extensions: {
      'payment-identifier': { info: { required: false }, schema: {} },
      'request-binding': { info: { version: 1, tag: bindingTag }, schema: {} },
      bazaar: { info: { input: {} }, schema: {} },
    },
    ...change,
  }
  return { status: 402, body: { code: 'payment_required' }, headers: { 'payment-required': encodeHeader(required) } }
}

export function settled(change: Record<string, unknown> = {}): SellerAnswer {
  const settlement = { success: true, transaction: `0x${'ab'.repeat(32)}`, network: 'eip155:8453', ...change }
  return { status: 200, body: { echo: 'hello' }, headers: { 'payment-response': encodeHeader(settlement) } }
}

export function createTestSeller(
  answer: (request: Request, payment: SeenPayment | undefined, attempt: number) => SellerAnswer,
  options: { signed?: boolean; tamper?: (response: Response) => Response } = {},
): TestSeller {
  let nowMs = 1_800_000_000_000
  let attempt = 0
  const key = generateKeyPairSync('ed25519')
  const x = key.publicKey.export({ format: 'jwk' }).x ?? ''
  const seller: TestSeller = {
    payments: [],
    requests: [],
    sleeps: [],
    advance: (ms) => (nowMs += ms),
    platform: undefined as never,
  }
  seller.platform = {
    nowMs: () => nowMs,
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    timeout: () => ({ signal: new AbortController().signal, clear: () => {} }),
    sleep: async (ms) => {
      seller.sleeps.push(ms)
      nowMs += ms
    },
    fetch: async (request) => {
      if (request.url.endsWith('/.well-known/http-message-signatures-directory'))
        return Response.json({ keys: [{ kty: 'OKP', crv: 'Ed25519', kid: 'k1', x, nbf: 0 }] })
      seller.requests.push(request)
      const header = request.headers.get('payment-signature')
      const payment = header === null ? undefined : (JSON.parse(atob(header)) as SeenPayment)
      if (payment !== undefined) seller.payments.push(payment)
      const given = answer(request, payment, attempt++)
      const response = options.signed === false ? plain(given) : signedResponse(given, request, key.privateKey, nowMs)
      return options.tamper?.(response) ?? response
    },
  }
  return seller
}

function plain({ status, body, headers = {} }: SellerAnswer): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })
}

function signedResponse(answer: SellerAnswer, request: Request, key: KeyObject, nowMs: number): Response {
  const response = plain(answer)
  const digest = createHash('sha256').update(JSON.stringify(answer.body)).digest('base64')
  response.headers.set('content-digest', `sha-256=:${digest}:`)
  const url = new URL(request.url)
  const lines: [string, string][] = [['"@status"', String(answer.status)]]
  for (const name of ['content-digest', 'content-type', 'payment-required', 'payment-response']) {
    const value = response.headers.get(name)
    if (value !== null) lines.push([`"${name}"`, value])
  }
  lines.push(['"@method";req', request.method], ['"@authority";req', url.host])
  lines.push(['"@path";req', url.pathname], ['"@query";req', url.search || '?'])
  const created = Math.floor(nowMs / 1000)
  const inner = `(${lines.map(([id]) => id).join(' ')});created=${created};expires=${created + 300};keyid="k1";alg="ed25519";tag="x402-response"`
  const base = [...lines.map(([id, value]) => `${id}: ${value}`), `"@signature-params": ${inner}`].join('\n')
  response.headers.set('signature-input', `sig=${inner}`)
  response.headers.set('signature', `sig=:${sign(null, Buffer.from(base, 'latin1'), key).toString('base64')}:`)
  return response
}
