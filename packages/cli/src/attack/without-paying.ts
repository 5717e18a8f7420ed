import { type Attack, broken, held, nothingServed, served, unclear } from './attack.ts'
import type { SendOptions, Target } from './target.ts'

/** Sends each of them and wants none of them served. */
const refusesAll =
  (make: (target: Target) => readonly SendOptions[]): Attack['run'] =>
  async (target) => {
    const before = await target.balance()
    const statuses: number[] = []
    for (const options of make(target)) statuses.push((await target.send(options)).status)
    const after = await target.balance()
    return nothingServed(statuses, before === undefined || after === undefined ? undefined : before - after)
  }

const pathVariants = ({ url }: Target): string[] => {
  const { pathname, search } = url
  const last = pathname.slice(pathname.lastIndexOf('/') + 1)
  const parent = pathname.slice(0, pathname.lastIndexOf('/'))
  return [
    `/${pathname}${search}`,
    `${pathname}/${search}`,
    `${pathname}/.${search}`,
    `${parent}/./${last}${search}`,
    `${parent}/x/../${last}${search}`,
    `${parent}/%2e/${last}${search}`,
    `${parent}%2f${last}${search}`,
    `${parent}/${last.toUpperCase()}${search}`,
    `${pathname};free=1${search}`,
    `${pathname}%00${search}`,
    `${pathname}.json${search}`,
    `${url.origin.replace(url.hostname, `${url.hostname}.`)}${pathname}${search}`,
  ]
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
  Buffer.alloc(60_000, 'A').toString(),
]

export const withoutPaying: readonly Attack[] = [
  {
    id: 'head',
    title: 'HEAD in place of the method that costs',
    purchases: 0,
    run: refusesAll(() => [{ method: 'HEAD', body: undefined }]),
  },
  {
    id: 'other-method',
    title: 'other methods and method override headers',
    purchases: 0,
    run: refusesAll(() => [
      ...['PUT', 'PATCH', 'DELETE', 'TRACE'].map((method) => ({ method, body: undefined })),
      ...['x-http-method-override', 'x-http-method', 'x-method-override'].map((name) => ({
        headers: { [name]: 'OPTIONS' },
      })),
    ]),
  },
  {
    id: 'path-tricks',
    title: 'the same path written differently',
    purchases: 0,
    run: refusesAll((target) => pathVariants(target).map((path) => ({ path }))),
  },
  {
    id: 'header-tricks',
    title: 'headers that some proxies and sellers believe',
    purchases: 0,
    run: refusesAll(({ url }) => [
      { path: '/nowhere', headers: { 'x-original-url': `${url.pathname}${url.search}` } },
      { path: '/nowhere', headers: { 'x-rewrite-url': `${url.pathname}${url.search}` } },
      { headers: { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1' } },
      { headers: { 'payment-response': Buffer.from('{"success":true}').toString('base64') } },
      { headers: { 'x-payment-response': Buffer.from('{"success":true}').toString('base64') } },
      { headers: { authorization: 'Bearer 0' } },
      { headers: { 'x-payment-verified': 'true', 'x-paid': 'true', 'x-internal': 'true' } },
    ]),
  },
  {
    id: 'not-a-payment',
    title: 'things in the payment header that are no payments',
    purchases: 0,
    run: refusesAll(() =>
      ['payment-signature', 'x-payment'].flatMap((name) =>
        notPayments.map((value) => ({ headers: { [name]: value } })),
      ),
    ),
  },
  {
    id: 'host',
    title: 'a Host header of our own choice in what the seller quotes',
    purchases: 0,
    run: async (target) => {
      const evil = 'seller.invalid'
      const answers = [
        await target.send({ headers: { host: evil } }),
        await target.send({ headers: { 'x-forwarded-host': evil, forwarded: `host=${evil}` } }),
      ]
      if (answers.some(({ status }) => served(status))) return broken('served without a payment')
      const quoting = answers.find(({ status, headers, body }) => {
        const quote = Buffer.from(String(headers['payment-required'] ?? ''), 'base64').toString('utf8')
        return status === 402 && `${quote}${body}`.includes(evil)
      })
      if (quoting) return broken('the quote names the host that the caller made up')
      return answers.every(({ status }) => status === 0) ? unclear('no answer') : held('quotes its own name only')
    },
  },
]
