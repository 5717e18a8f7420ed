import { type Case, checkRefused, failed, isServed, listOf, passed, skipped, unclear } from '../case.ts'
import type { Seller } from '../seller/seller.ts'
import type { SendOptions } from '../seller/send.ts'

const level = 'L1' as const
const unpaidWhy = 'Anyone who knows the trick gets the answer without paying.'
const attachFix = 'Attach the price to the handler of the route, not to a list of paths and methods in front of it.'

const headerOf = (headers: Record<string, string | string[] | undefined>, name: string): string =>
  String(headers[name] ?? '')

/** None of these may be served. */
const refusesAll = (
  about: Pick<Case, 'id' | 'title'> & Partial<Pick<Case, 'why' | 'fix' | 'needs'>>,
  make: (seller: Seller) => readonly SendOptions[],
): Case => ({
  ...{ level, why: unpaidWhy, fix: attachFix, needs: [] },
  ...about,
  run: async (seller) => {
    const statuses: number[] = []
    for (const options of make(seller)) statuses.push((await seller.send(options)).status)
    if (statuses.includes(304)) return failed('answered 304 to a caller who has paid nothing')
    return checkRefused(statuses)
  },
})

const quote: Case = {
  id: 'quote-shape',
  level,
  title: 'The 402 has a well-formed PAYMENT-REQUIRED of x402 version 2',
  why: 'Clients cannot pay what they cannot read, and pay wrongly what is ambiguous.',
  fix: 'Send PAYMENT-REQUIRED as base64 of the PaymentRequired object with resource, accepts and atomic amounts.',
  needs: [],
  run: async ({ required, offer, url }) => {
    const faults = [
      ...(/^[1-9][0-9]{0,30}$/.test(offer.amount) ? [] : [`amount is ${offer.amount}`]),
      ...(/^0x[0-9a-fA-F]{40}$/.test(offer.asset) ? [] : ['asset is not an address']),
      ...(/^0x[0-9a-fA-F]{40}$/.test(offer.payTo) ? [] : ['payTo is not an address']),
      ...(Number.isInteger(offer.maxTimeoutSeconds) && offer.maxTimeoutSeconds > 0 ? [] : ['maxTimeoutSeconds']),
      ...(offer.extra.name && offer.extra.version ? [] : ['extra has no name and version of the token']),
    ]
    if (faults.length > 0) return failed(faults.join('; '))
    const named = new URL(required.resource.url)
    if (named.pathname !== url.pathname) return failed(`resource.url names ${named.pathname}`)
    return passed(`${offer.amount} of ${offer.asset} on ${offer.network}`)
  },
}

const quoteSize: Case = {
  id: 'quote-size',
  level,
  title: 'The payment headers of a 402 fit through proxies and facilitators',
  why: 'Proxies cut or refuse long headers, and hosted facilitators refuse long requirements.',
  fix: 'Keep PAYMENT-REQUIRED below 3 kB: shorten descriptions and schemas in extensions.',
  needs: [],
  run: async (seller) => {
    const { headers } = await seller.send()
    const bytes = headerOf(headers, 'payment-required').length
    return bytes > 8_000
      ? failed(`${bytes} bytes`)
      : bytes > 3_000
        ? unclear(`${bytes} bytes`)
        : passed(`${bytes} bytes`)
  },
}

const sharedCaches: Case = {
  id: 'shared-caches',
  level,
  title: 'A 402 is not kept by caches',
  why: 'A cached price is shown to clients that have paid, or to others at another price.',
  fix: 'Send Cache-Control: no-store with every 402.',
  needs: [],
  run: async (seller) => {
    const control = headerOf((await seller.send()).headers, 'cache-control')
    return /no-store|private/.test(control) ? passed(control) : failed(`Cache-Control is ${control || 'missing'}`)
  },
}

const conditional = refusesAll({ id: 'conditional', title: 'Range and conditional requests without a payment' }, () => [
  { headers: { range: 'bytes=0-100' } },
  { headers: { 'if-none-match': '*' } },
  { headers: { 'if-modified-since': new Date().toUTCString() } },
  { headers: { 'if-match': '*' } },
])

const options: Case = {
  id: 'options',
  level,
  title: 'OPTIONS serves no answer, and no credentials to any origin',
  why: 'A page of somebody else could spend the balance of its visitor.',
  fix: 'Never send Access-Control-Allow-Credentials together with an origin that was not configured.',
  needs: [],
  run: async (seller) => {
    const origin = 'https://elsewhere.invalid'
    const asked = { origin, 'access-control-request-method': seller.method }
    const { status, headers, body } = await seller.send({ method: 'OPTIONS', headers: asked, body: undefined })
    const allowed = headerOf(headers, 'access-control-allow-origin')
    const credentials = headerOf(headers, 'access-control-allow-credentials') === 'true'
    if (credentials && (allowed === '*' || allowed === origin)) return failed('allows credentials to any origin')
    return isServed(status) && body.length > 200
      ? failed(`answered ${status} with a body`)
      : passed(`answered ${status}`)
  },
}

const compression: Case = {
  id: 'compression',
  level,
  title: 'The price is the same whatever encoding is accepted',
  why: 'Clients behind a compressing proxy would see another price, or none.',
  fix: 'Leave payment headers out of content negotiation.',
  needs: [],
  run: async (seller) => {
    const plain = await seller.send({ headers: { 'accept-encoding': 'identity' } })
    const packed = await seller.send({ headers: { 'accept-encoding': 'gzip, br, zstd' } })
    if (packed.status !== 402) return failed(`answered ${packed.status}`)
    const same = amountsOf(plain.headers['payment-required']) === amountsOf(packed.headers['payment-required'])
    return same ? passed('same terms') : failed('other terms for a client that accepts gzip')
  },
}

const amountsOf = (header: unknown): string => {
  const text = Buffer.from(String(header ?? ''), 'base64').toString('utf8')
  return [...text.matchAll(/"(?:amount|payTo|asset|network)":"[^"]*"/g)].map(String).join()
}

const hosts: Case = {
  id: 'forwarded-hosts',
  level,
  title: 'A host chosen by the caller does not appear in the quote',
  why: 'A buyer can be made to pay for a resource of somebody else, or a payment to be accepted for another host.',
  fix: 'Take the public address from configuration, never from Host or X-Forwarded-Host.',
  needs: [],
  run: async (seller) => {
    const other = 'seller.invalid'
    const answers = [
      await seller.send({ headers: { host: other } }),
      await seller.send({ headers: { 'x-forwarded-host': other, forwarded: `host=${other}` } }),
    ]
    const statuses = answers.map(({ status }) => status)
    if (statuses.some(isServed)) return failed('served without a payment')
    const quoting = answers.some(({ status, headers, body }) => {
      const terms = Buffer.from(headerOf(headers, 'payment-required'), 'base64').toString('utf8')
      return status === 402 && `${terms}${body}`.includes(other)
    })
    if (quoting) return failed('the quote names the host that the caller made up')
    return statuses.every((status) => status === 0) ? unclear('no answer') : passed(`answered ${listOf(statuses)}`)
  },
}

const notPayments = [
  '',
  'true',
  'null',
  '{}',
  'e30=',
  'W10=',
  'bnVsbA==',
  'x'.repeat(200),
  Buffer.from('{"x402Version":2,"payload":{}}').toString('base64'),
]

const malformed: Case = {
  id: 'not-a-payment',
  level,
  title: 'Values of the payment header that are not payments',
  why: 'A parser that throws answers 500, is logged with its input, and may fail open.',
  fix: 'Decode strictly, refuse with 400 or 402, and never reach the handler.',
  needs: [],
  run: async (seller) => {
    const statuses: number[] = []
    for (const name of ['payment-signature', 'x-payment'])
      for (const value of notPayments) statuses.push((await seller.send({ headers: { [name]: value } })).status)
    if (statuses.some((status) => status >= 500 || status === 0)) return failed(`answered ${listOf(statuses)}`)
    return checkRefused(statuses)
  },
}

const errorTexts: Case = {
  id: 'error-texts',
  level,
  title: 'Errors show no stack trace and no path of the server',
  why: 'Attackers learn versions and file layout for nothing.',
  fix: 'Answer errors with a fixed text and a code; log the rest.',
  needs: [],
  run: async (seller) => {
    const bodies = [
      (await seller.send()).body,
      (await seller.send({ headers: { 'payment-signature': Buffer.from('{"x":').toString('base64') } })).body,
    ]
    const shown = bodies.find((body) => /\n\s+at .+:\d+:\d+|node_modules\//.test(body))
    return shown === undefined ? passed('no trace') : failed(shown.slice(0, 80))
  },
}

const versions = refusesAll(
  {
    id: 'versions',
    title: 'Payments of another protocol version',
    why: 'Fields of version 1 have other names: a lenient reader finds no amount and no payee to compare.',
    fix: 'Refuse every x402Version but the one that was quoted.',
  },
  () =>
    [1, 3, 99].map((x402Version) => ({
      headers: { 'payment-signature': Buffer.from(JSON.stringify({ x402Version, payload: {} })).toString('base64') },
    })),
)

const headers = refusesAll(
  { id: 'trusted-headers', title: 'Headers that some proxies and sellers trust' },
  ({ url }) => [
    { path: '/nowhere', headers: { 'x-original-url': `${url.pathname}${url.search}` } },
    { path: '/nowhere', headers: { 'x-rewrite-url': `${url.pathname}${url.search}` } },
    { headers: { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1' } },
    { headers: { 'payment-response': Buffer.from('{"success":true}').toString('base64') } },
    { headers: { authorization: 'Bearer 0' } },
    { headers: { 'x-payment-verified': 'true', 'x-paid': 'true', 'x-internal': 'true' } },
  ],
)

const head: Case = {
  ...{ id: 'head', level, needs: [] },
  title: 'HEAD without a payment says what GET says',
  why: 'Clients and monitors that ask before they buy see an error, or another price.',
  fix: 'Answer HEAD like GET without a body, or with 405.',
  run: async (seller) => {
    const { status, headers } = await seller.send({ method: 'HEAD', body: undefined })
    if (status >= 500 || status === 0) return failed(`answered ${listOf([status])}`)
    // No answer is sold: a 2xx gives nothing away, and tells that there is no price.
    if (isServed(status)) return unclear(`answered ${status}, as if there were no price`)
    if (status !== 402) return passed(`answered ${status}`)
    const asked = amountsOf(headers['payment-required'])
    const same = asked === amountsOf((await seller.send()).headers['payment-required'])
    return same ? passed('same terms') : failed('other terms than GET')
  },
}

/** HEAD is not among them: it carries no answer, whatever its status. */
const methods = refusesAll({ id: 'methods', title: 'Other methods and method override headers' }, () => [
  ...['PUT', 'PATCH', 'DELETE'].map((method) => ({ method, body: undefined })),
  ...['x-http-method-override', 'x-http-method', 'x-method-override'].map((name) => ({
    headers: { [name]: 'OPTIONS' },
  })),
])

const paths = refusesAll({ id: 'paths', title: 'The path written differently' }, ({ url }) => {
  const { pathname, search } = url
  const last = pathname.slice(pathname.lastIndexOf('/') + 1)
  const parent = pathname.slice(0, pathname.lastIndexOf('/'))
  return [
    `/${pathname}`,
    `${pathname}/`,
    `${pathname}/.`,
    `${parent}/./${last}`,
    `${parent}/x/../${last}`,
    `${parent}/%2e/${last}`,
    `${parent}%2f${last}`,
    `${parent}/${last.toUpperCase()}`,
    `${pathname};free=1`,
    `${pathname}%00`,
    `${pathname}.json`,
  ].map((path) => ({ path: `${path}${search}` }))
})

/** More lines than many servers read: what is behind them silently vanishes. */
const manyHeaders = Object.fromEntries(Array.from({ length: 1_100 }, (_, index) => [`x${index}`, '1']))

const limits = refusesAll(
  {
    id: 'limits',
    title: 'More headers, and longer ones, than a server reads',
    why: 'What is behind the limit vanishes, and checks that look for it pass.',
    fix: 'Refuse with 431 before routing, instead of dropping header lines.',
    needs: ['loopback'],
  },
  () => [{ headers: manyHeaders }, { headers: { 'payment-signature': 'A'.repeat(60_000) } }],
)

const discovery: Case = {
  id: 'discovery',
  level,
  title: 'The discovery document names the route at the price that is asked',
  why: 'Agents choose by the document and find another price at the route.',
  fix: 'Derive the document and the 402 from one declaration.',
  needs: [],
  run: async (seller) => {
    const { status, body } = await seller.send({ path: '/.well-known/x402', method: 'GET', body: undefined })
    if (status !== 200) return skipped(`/.well-known/x402 answered ${status}`)
    try {
      JSON.parse(body)
    } catch {
      return failed('/.well-known/x402 is not JSON')
    }
    return body.includes(seller.url.pathname.split('/').slice(0, 3).join('/'))
      ? passed('names the route')
      : unclear('does not name the route')
  },
}

export const protocolCases: readonly Case[] = [
  ...[quote, quoteSize, sharedCaches, discovery, head, methods, options, paths, conditional, compression, hosts],
  ...[headers, malformed, versions, errorTexts, limits],
]
