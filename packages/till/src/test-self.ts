import { contentDigest } from '@assay/protocol/signatures/signature-base'
import { exampleUrl } from './documents/index.ts'
import { sha256 } from './kernel/bytes.ts'
import type { Rng } from './kernel/random.ts'
import type { RouteDeclaration, SoldRequest } from './selling/index.ts'
import { keyDirectoryPath } from './signing/index.ts'

/** How requests reach the application: the address of its server, or its own `fetch`. */
export type SendSelf = string | ((request: Request) => Response | Promise<Response>)

export type SelfTest = {
  origin: string
  sold: readonly RouteDeclaration[]
  send: SendSelf
  /** Makes a sold route answer as if it had been paid, with bytes that mean nothing. */
  probe: Readonly<Record<string, string>>
}

const probeHeader = 'x-till-self-test'

/** Long enough to be compressed by middleware that leaves short answers alone. */
export const probeAnswer = JSON.stringify({ self_test: '0'.repeat(4_000) })

/** Which requests belong to a self-test under way: its secret dies with it. */
export function createProbes(rng: Rng) {
  const secrets = new Set<string>()
  return {
    has: (request: Pick<SoldRequest, 'header'>): boolean =>
      secrets.size > 0 && secrets.has(request.header(probeHeader) ?? ''),
    during: async <T>(work: (probe: SelfTest['probe']) => Promise<T>): Promise<T> => {
      const secret = Buffer.from(rng.bytes(16)).toString('hex')
      secrets.add(secret)
      try {
        return await work({ [probeHeader]: secret })
      } finally {
        secrets.delete(secret)
      }
    },
  }
}

const fix = 'keep this route away from the middleware that does it'

/** Asks for the price and for an answer of each sold route, and compares what arrives with what was signed. */
export async function testSelf({ origin, sold, send, probe }: SelfTest): Promise<string[]> {
  const problems = new Set<string>()
  const ask = senderOf(send)
  const keys = await ask(new Request(`${origin}${keyDirectoryPath}`))
  if (keys.status !== 200)
    problems.add(
      `documents: ${keyDirectoryPath} is answered ${keys.status}; route till.documents() too, for buyers check signatures and payments there`,
    )
  await keys.arrayBuffer()
  const site = { baseUrl: origin, serviceName: '', version: '', summary: '', description: '' }
  for (const route of sold) {
    const { id, method, access } = route
    const url = exampleUrl(site, route)
    // What a browser sends, so that compression and caching show themselves.
    const asBrowser = { 'accept-encoding': 'gzip, br', 'if-none-match': '*' }
    const say = (what: string) => problems.add(`${id}: ${what}; ${fix}`)
    const unpaid = await ask(new Request(url, { method, headers: asBrowser }))
    const isForSale = access.kind === 'paid' && access.unavailable?.({ ...route.example?.params }) === undefined
    if (isForSale && unpaid.status === 404)
      problems.add(
        `${id}: ${new URL(url).pathname} is answered 404; declare its path as buyers see it, mount path included`,
      )
    else if (isForSale && unpaid.status !== 402) say(`an unpaid request is answered ${unpaid.status} instead of 402`)
    else await compare(unpaid, isForSale ? ['payment-required'] : [], say)
    const answer = await ask(new Request(url, { method, headers: { ...asBrowser, ...probe } }))
    if (answer.status === 304) say('an answer is replaced by a 304')
    else if (answer.status === 402) problems.add(`${id}: another process answered; give the address of this one`)
    else if (unpaid.status === 402 || answer.status === 200) await compare(answer, [], say)
  }
  return [...problems]
}

async function compare(response: Response, names: readonly string[], say: (what: string) => void): Promise<void> {
  const body = new Uint8Array(await response.arrayBuffer())
  if (response.headers.get('content-digest') !== contentDigest(sha256(body)))
    say('the bytes of the answer were changed')
  if (response.headers.get('content-encoding') !== null) say('the answer was compressed')
  if (response.headers.get('etag') !== null) say('the answer got an ETag, and a 304 would take its place')
  for (const name of [...names, 'signature', 'signature-input'])
    if (response.headers.get(name) === null) say(`the header ${name} was removed`)
}

function senderOf(send: SendSelf): (request: Request) => Promise<Response> {
  if (typeof send !== 'string') return async (request) => send(request)
  return async ({ url, method, headers }) => {
    const { pathname, search } = new URL(url)
    return fetch(new URL(`${pathname}${search}`, send), { method, headers, redirect: 'manual' })
  }
}
