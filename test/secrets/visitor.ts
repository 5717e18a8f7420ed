import { randomBytes } from 'node:crypto'
import { hexToBytes } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { RouteDeclaration } from '../../packages/node/src/http/index.ts'
import { streamRouteId } from '../../packages/node/src/shops/subscriptions/index.ts'
import { signRequest } from '../../packages/sdk/src/index.ts'
import { decodeHeader, encodePayload, type PaymentRequired, signPayment } from '../harness/till-fixture.ts'
import type { Seen, Watch } from './watch.ts'

export type Answer = { status: number; headers: Headers; body: string; seen: Seen; seenHeaders: Seen }

/** A client of a node whose every answer is watched, and whose every proof is a secret. */
export type Visitor = {
  ask(target: string | Request, init?: RequestInit): Promise<Answer>
  /** The price, and then the answer; the last of them where nothing was offered. */
  buy(account: PrivateKeyAccount, url: string, init?: RequestInit): Promise<Answer & { payment?: string }>
  /** Signed by a wallet (ERC-8128). */
  askAs(account: PrivateKeyAccount, url: string, init?: RequestInit): Promise<Answer>
  /** The token in an answer that gives one to its owner. */
  handedOut(name: string, answer: Answer, tokenIn: (json: Json) => unknown): string
}

// biome-ignore lint/suspicious/noExplicitAny: answers of many routes
type Json = any

/** Ends what hangs, no more: a busy machine is slow. */
const patienceMs = 90_000
const streamMs = 1_500

export function createVisitor(watch: Watch): Visitor {
  const ask: Visitor['ask'] = async (target, init = {}) => {
    const method = init.method ?? (typeof target === 'string' ? 'GET' : target.method)
    const { pathname } = new URL(typeof target === 'string' ? target : target.url)
    const signal = init.signal ?? AbortSignal.timeout(patienceMs)
    const response = await fetch(target, { ...init, redirect: 'manual', signal })
    const place = `${method} ${pathname} ${response.status}`
    const { status, headers } = response
    const seenHeaders = watch.saw(`header of ${place}`, [...headers].map((pair) => pair.join(': ')).join('\n'))
    const body = await bodyOf(response)
    return { status, headers, body, seenHeaders, seen: watch.saw(`body of ${place}`, body) }
  }
  const buy: Visitor['buy'] = async (account, url, init = {}) => {
    const priced = await ask(url, init)
    if (priced.status !== 402) return priced
    const offer = decodeHeader<PaymentRequired>(priced.headers.get('payment-required'))
    if (offer.accepts.length === 0) return priced
    const identifier = randomBytes(12).toString('hex')
    const payload = await signPayment(account, offer, { identifier })
    watch.keep('payment identifier', identifier)
    watch.keep('payment signature', hexToBytes(payload.payload.signature))
    const payment = encodePayload(payload)
    const headers = { ...(init.headers as Record<string, string>), 'payment-signature': payment }
    return { ...(await ask(url, { ...init, headers })), payment }
  }
  return {
    ask,
    buy,
    askAs: async (account, url, init) => {
      const request = await signRequest(url, init, { account })
      watch.keep('request signature', request.headers.get('signature')?.slice('eth=:'.length, -1) ?? '')
      return ask(request)
    },
    handedOut: (name, answer, tokenIn) => {
      const token = tokenIn(JSON.parse(answer.body))
      if (typeof token !== 'string') throw new Error(`no ${name} in ${answer.seen.place}`)
      // Of a signed token only the signature is secret: what it says is said elsewhere, too.
      watch.reportFigures(name, token.split('.').at(-1) ?? '', answer.seen)
      return token
    },
  }
}

/** A stream has no end: its beginning is checked. */
async function bodyOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  const reader = response.body?.getReader()
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), streamMs).unref())
  let text = ''
  for (;;) {
    const part = await Promise.race([reader?.read(), late])
    if (!part || part.done) break
    text += Buffer.from(part.value).toString('utf8')
  }
  await reader?.cancel()
  return text
}

/** The example of a route, as a request. */
export function exampleOf(origin: string, { path, method, example }: RouteDeclaration) {
  const filled = path.replaceAll(/:(\w+)/g, (_all, name: string) => encodeURIComponent(example.params?.[name] ?? 'x'))
  const query = new URLSearchParams(example.query).toString()
  const body =
    example.body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(example.body) }
  return { url: `${origin}${filled}${query === '' ? '' : `?${query}`}`, init: { method, ...body } as RequestInit }
}

/** Whose paid answer gives its buyer a token. */
export const returnsToken = ({ id }: RouteDeclaration): boolean =>
  id === streamRouteId || /^subscriptions\.(standard|vip)\.(base|polygon)$/.test(id)
