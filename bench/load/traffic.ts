import { signRequest } from '../../packages/sdk/src/index.ts'
import { decodeHeader, exchange } from './exchange.ts'
import { fastAccount } from './fast-account.ts'
import { type BenchTerms, benchPayer, paymentPayload, signPayment } from './sign-payments.ts'

export type Facts = { port: number; tokens: string[]; pages: string[]; queries: string[]; symbols: string[] }

/** One request, ready to be written. A paid one knows by what it can be found in the books. */
export type Prepared = { kind: string; bytes: Buffer; nonce?: string; paying: boolean }

type Ask = { method: 'GET' | 'POST'; path: string; body?: unknown }
type Kind = { name: string; weight: number; pays: 'no' | 'payment' | 'credit'; ask(n: number, payer: string): Ask }

/** Payers take turns: one may have only a few payments in flight. */
const payers = 4_000
export const creditWallets = 200

/** What is asked of all shops, with its share in a hundred. */
const kindsOf = ({ tokens, pages, queries, symbols }: Facts): Kind[] => {
  const pick = <T>(list: readonly T[], n: number) => list[n % list.length] as T
  const get = (path: string): Ask => ({ method: 'GET', path })
  const post = (path: string, body: unknown): Ask => ({ method: 'POST', path, body })
  return [
    { name: 'token check', weight: 22, pays: 'no', ask: (n) => get(`/v1/check/${pick(tokens, n)}`) },
    { name: '402', weight: 12, pays: 'no', ask: (n) => get(`/v1/report/${pick(tokens, n)}`) },
    { name: 'matrix delayed', weight: 10, pays: 'no', ask: () => get('/matrix/squeeze/delayed') },
    {
      name: 'options quote',
      weight: 8,
      pays: 'no',
      ask: (n) => post('/v1/options/quote', { symbol: pick(symbols, n) }),
    },
    { name: 'loyalty', weight: 8, pays: 'no', ask: (n) => get(`/loyalty/${benchPayer(n % payers).address}`) },
    { name: 'token report', weight: 8, pays: 'payment', ask: (n) => get(`/v1/report/${pick(tokens, n)}`) },
    { name: 'matrix live', weight: 8, pays: 'payment', ask: () => get('/matrix/squeeze/live?limit=10') },
    { name: 'match', weight: 10, pays: 'payment', ask: (n) => post('/v1/match', { query: pick(queries, n) }) },
    {
      name: 'attest',
      weight: 6,
      pays: 'payment',
      ask: (n, payer) => post('/v1/cite/attest', { source_url: pick(pages, n), agent_wallet: payer }),
    },
    { name: 'credit call', weight: 8, pays: 'credit', ask: () => get('/v1/sandbox/echo?message=load') },
  ]
}

export type Traffic = {
  kinds: readonly { name: string; pays: boolean }[]
  /** The next request of the mix; payments and proofs are signed here. */
  next(): Promise<Prepared>
}

export async function openTraffic(facts: Facts): Promise<Traffic> {
  const host = `127.0.0.1:${facts.port}`
  const kinds = kindsOf(facts)
  const terms = new Map<string, BenchTerms>()
  const order = shuffled(kinds)
  let turn = 0
  const counts = new Map<string, number>()
  const next = async (): Promise<Prepared> => {
    const kind = order[turn++ % order.length] as Kind
    const n = counts.get(kind.name) ?? 0
    counts.set(kind.name, n + 1)
    const payer = benchPayer(turn % payers)
    const ask = kind.ask(n, payer.address)
    if (kind.pays === 'no') return { kind: kind.name, bytes: textOf(host, ask), paying: false }
    if (kind.pays === 'credit')
      return { kind: kind.name, bytes: textOf(host, ask, await creditHeaders(host, ask, n)), paying: true }
    // The price does not depend on the body of any of these.
    const offer = terms.get(ask.path) ?? (await readTerms(facts.port, host, ask))
    terms.set(ask.path, offer)
    const signed = signPayment(payer, offer)
    const header = Buffer.from(JSON.stringify(paymentPayload(offer, signed))).toString('base64')
    const bytes = textOf(host, ask, `PAYMENT-SIGNATURE: ${header}\r\n`)
    return { kind: kind.name, bytes, nonce: signed.authorization.nonce, paying: true }
  }
  return { kinds: kinds.map(({ name, pays }) => ({ name, pays: pays !== 'no' })), next }
}

/** A hundred turns in an order that looks random and is the same each time. */
function shuffled(kinds: readonly Kind[]): Kind[] {
  const turns = kinds.flatMap((kind) => Array.from({ length: kind.weight }, () => kind))
  return turns
    .map((kind, index) => ({ kind, at: (index * 37) % turns.length }))
    .sort((a, b) => a.at - b.at)
    .map(({ kind }) => kind)
}

function textOf(host: string, { method, path, body }: Ask, headers = ''): Buffer {
  const content = body === undefined ? '' : JSON.stringify(body)
  const length =
    body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(content)}\r\n`
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: application/json\r\n${headers}${length}\r\n${content}`,
  )
}

async function creditHeaders(host: string, { path }: Ask, n: number): Promise<string> {
  const account = fastAccount(n % creditWallets)
  const { headers } = await signRequest(`http://${host}${path}`, {}, { account } as never)
  return [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
}

async function readTerms(port: number, host: string, ask: Ask): Promise<BenchTerms> {
  const answer = await exchange(port, textOf(host, ask).toString('latin1'))
  const { resource, accepts } = decodeHeader<{ resource: { url: string }; accepts: BenchTerms['accepted'][] }>(
    answer,
    'payment-required',
  )
  const accepted = accepts.find(({ network }) => network === 'eip155:8453')
  if (!accepted) throw new Error(`${ask.path} is not sold on Base`)
  return { resourceUrl: resource.url, accepted }
}
