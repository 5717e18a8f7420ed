import type { FacilitatorFault } from '../facilitator/faults.ts'
import { type Asked, type Given, goods, type Sell, withTerms } from './exchange.ts'

/** One mistake of a seller, in front of a correct one. */
export type Hole = (sell: Sell) => Sell

const isServed = ({ status }: Given) => status >= 200 && status < 300

/** Serves without a look at the money. */
const servesIf =
  (careless: (asked: Asked) => boolean): Hole =>
  (sell) =>
  async (asked) =>
    careless(asked) ? goods : sell(asked)

const servesPayment = (careless: (payment: NonNullable<Asked['payment']>) => boolean): Hole =>
  servesIf(({ payment }) => payment !== undefined && careless(payment))

/** Changes what a correct seller would answer. */
const answers =
  (change: (given: Given, asked: Asked) => Given | Promise<Given>): Hole =>
  (sell) =>
  async (asked) =>
    change(await sell(asked), asked)

const header = (given: Given, name: string, value: string): Given => ({
  ...given,
  headers: { ...given.headers, [name]: value },
})

const unpaid: (terms: Given) => Given = (terms) => ({ ...terms, status: 402 })

/** After this fault of the facilitator the buyer is told to pay, or served, whatever is known. */
const afterFault = (fault: FacilitatorFault, wrong: (given: Given) => Given): Hole =>
  answers(async (given, asked) =>
    asked.payment !== undefined && (await asked.lastFault()) === fault ? wrong(given) : given,
  )

const asksAgain = (fault: FacilitatorFault): Hole => afterFault(fault, unpaid)

/** Keeps paid answers and gives them to whoever `isSame` takes for the buyer. */
const givesAgain =
  (isSame: (asked: Asked, first: Asked) => boolean, when: 'at_once' | 'later'): Hole =>
  (sell) => {
    const sold: { first: Asked; given: Promise<Given>; done: boolean }[] = []
    return async (asked) => {
      if (asked.payment === undefined) return sell(asked)
      const known = sold.find(({ first, done }) => done === (when === 'later') && isSame(asked, first))
      if (known) return known.given
      const entry = { first: asked, given: sell(asked), done: false }
      sold.push(entry)
      const given = await entry.given
      entry.done = true
      if (!isServed(given)) sold.splice(sold.indexOf(entry), 1)
      return given
    }
  }

const text = ({ headers }: Asked) => headers['payment-signature']
const nonce = ({ payment }: Asked) => payment?.payload.authorization.nonce.toLowerCase()
const sameNonce = (asked: Asked, first: Asked) => nonce(asked) === nonce(first)
const sameText = (asked: Asked, first: Asked) => text(asked) === text(first)
const sameTarget = (asked: Asked, first: Asked) => asked.target === first.target && asked.method === first.method

/** Forgets a sale whose answer was lost: the buyer is asked for money again. */
const forgetsLost: Hole = (sell) => {
  const lost = new Set<string>()
  return async (asked) => {
    const key = nonce(asked) ?? ''
    const given = await sell(asked)
    if (asked.payment === undefined) return given
    if (lost.has(key)) return unpaid(given)
    lost.add(key)
    return given
  }
}

const authorizationOf = ({ payload }: NonNullable<Asked['payment']>) => payload.authorization
const acceptedOf = (payment: NonNullable<Asked['payment']>) => payment['accepted'] as Record<string, unknown> | null
const now = () => Math.floor(Date.now() / 1000)

/** Refusals of a correct seller that say so in their body. */
const servesRefused = (words: RegExp): Hole =>
  answers((given, { payment }) => (payment && given.status >= 400 && words.test(given.body) ? goods : given))

const protocolHoles: Record<string, Hole> = {
  'quote-shape': answers((given) => withTerms(given, (terms) => terms.replace(/"amount":"(\d+)"/, '"amount":"0x$1"'))),
  'quote-size': answers((given) =>
    withTerms(given, (terms) => terms.replace('"resource":{', `"resource":{"padding":"${'x'.repeat(7_000)}",`)),
  ),
  'shared-caches': answers((given) =>
    given.status === 402 ? header(given, 'cache-control', 'public, max-age=60') : given,
  ),
  discovery: (sell) => async (asked) =>
    asked.target === '/.well-known/x402' ? { ...goods, body: 'prices' } : sell(asked),
  methods: servesIf(({ method }) => method === 'PUT'),
  options: answers((given, { method, headers }) =>
    method === 'OPTIONS'
      ? header(
          header(given, 'access-control-allow-origin', headers.origin ?? '*'),
          'access-control-allow-credentials',
          'true',
        )
      : given,
  ),
  paths: servesIf(({ target }) => /\/(\?|$)/.test(target) && target.length > 2),
  conditional: (sell) => async (asked) =>
    asked.headers['if-none-match'] === undefined ? sell(asked) : { status: 304, headers: {}, body: '' },
  compression: answers((given, { headers }) =>
    headers['accept-encoding']?.includes('zstd')
      ? withTerms(given, (terms) => terms.replace(/"amount":"(\d+)"/, '"amount":"9$1"'))
      : given,
  ),
  'forwarded-hosts': answers((given, { headers }) =>
    headers['x-forwarded-host'] && given.status === 402
      ? withTerms(given, (terms) =>
          terms.replace(/"url":"http:\/\/[^/]+/, `"url":"http://${headers['x-forwarded-host']}`),
        )
      : given,
  ),
  'trusted-headers': servesIf(({ headers }) => headers['x-paid'] === 'true'),
  'not-a-payment': (sell) => async (asked) =>
    asked.headers['payment-signature'] === 'W10=' ? { status: 500, headers: {}, body: 'error' } : sell(asked),
  versions: servesIf(({ headers }) =>
    Buffer.from(headers['payment-signature'] ?? '', 'base64')
      .toString()
      .includes('"x402Version":3'),
  ),
  'error-texts': answers((given, { headers, payment }) =>
    headers['payment-signature'] && !payment
      ? { ...given, body: 'SyntaxError\n    at parse (/srv/seller.js:10:5)' }
      : given,
  ),
  limits: servesIf(({ headers }) => Object.keys(headers).length > 1_000),
}

const onceHoles: Record<string, Hole> = {
  'copies-at-once': givesAgain(
    (asked, first) => sameText(asked, first) && asked.connection !== first.connection,
    'at_once',
  ),
  'copies-in-order': givesAgain((asked, first) => sameText(asked, first) && sameTarget(asked, first), 'later'),
  'copies-on-one-connection': givesAgain(
    (asked, first) => sameText(asked, first) && asked.connection === first.connection,
    'at_once',
  ),
  'copies-other-methods': givesAgain(
    (asked, first) => sameText(asked, first) && asked.method !== first.method,
    'later',
  ),
  'copies-other-hosts': givesAgain(
    (asked, first) => sameText(asked, first) && (asked.headers.host ?? '').endsWith('.'),
    'later',
  ),
  'copies-other-encodings': givesAgain((asked, first) => sameNonce(asked, first) && !sameText(asked, first), 'later'),
  'encodings-at-once': givesAgain((asked, first) => sameNonce(asked, first) && !sameText(asked, first), 'at_once'),
  leak: answers((given) => (isServed(given) ? header(given, 'cache-control', 'public, max-age=3600') : given)),
}

const quotedHoles: Record<string, Hole> = {
  underpay: servesPayment((payment) => authorizationOf(payment).value === '0'),
  'other-payee': servesPayment((payment) => authorizationOf(payment).to === authorizationOf(payment).from),
  'other-asset': servesIf(({ payment, asset }) => {
    const named = payment && acceptedOf(payment)?.asset
    return typeof named === 'string' && named.toLowerCase() !== asset.toLowerCase()
  }),
  'other-chain': servesPayment((payment) => acceptedOf(payment)?.network === 'eip155:1'),
  expiry: servesPayment((payment) => Number(authorizationOf(payment).validBefore) < now()),
  signature: servesPayment(({ payload }) => payload.signature === '0x'),
  'no-funds': servesRefused(/insufficient|balance/i),
  schemes: servesPayment((payment) => acceptedOf(payment)?.scheme === 'free'),
  'broken-documents': servesPayment((payment) => authorizationOf(payment).value === '1e3'),
  'other-resource': givesAgain((asked, first) => sameText(asked, first) && asked.target !== first.target, 'later'),
  'altered-quote': servesPayment((payment) => payment['accepted'] === null),
  'two-payments': (sell) => async (asked) => {
    const { 'x-payment': other, ...headers } = asked.headers
    if (other === undefined || !asked.payment) return sell(asked)
    await sell({ ...asked, headers })
    return { status: 500, headers: {}, body: 'error' }
  },
  overdraw: servesRefused(/insufficient|balance|in flight/i),
}

const failureHoles: Record<string, Hole> = {
  clean: answers((given, { payment }) =>
    payment && isServed(given) ? { status: 500, headers: {}, body: 'error' } : given,
  ),
  'accept-then-timeout': asksAgain('hangs_after'),
  '5xx-after-settle': asksAgain('fails_after'),
  'double-402': asksAgain('fails_after'),
  'slow-answer': asksAgain('is_slow'),
  'declared-safe': asksAgain('refuses_after_sending'),
  'reconcile-unavailable': asksAgain('fails_after'),
  'false-success': afterFault('claims_to_have_sent', () => goods),
  'foreign-transaction': afterFault('claims_foreign_transaction', () => goods),
  'settled-twice': asksAgain('settles_twice'),
  'refused-then-settled': asksAgain('refuses_and_settles_late'),
  'settled-late': asksAgain('settles_late'),
  'hang-up-0ms': forgetsLost,
  'hang-up-60ms': forgetsLost,
  'hang-up-250ms': forgetsLost,
  'cut-after-0-bytes': forgetsLost,
  'cut-after-1-bytes': forgetsLost,
  cancelled: answers((given, { payment }) => (payment && given.status >= 400 ? goods : given)),
  'nonce-signed-twice': answers((given, { payment }) => (payment && given.status >= 400 ? goods : given)),
  'carried-after-402': answers((given, { payment }) => (payment && given.status === 409 ? unpaid(given) : given)),
  reorganised: givesAgain(sameText, 'later'),
}

const evidenceHoles: Record<string, Hole> = {
  receipt: answers(({ headers: { 'payment-response': _, ...headers }, ...given }) => ({ ...given, headers })),
  digest: answers((given) => ({ ...given, body: given.body.replace('{', '{ ') })),
  'identifier-replay': givesAgain((asked, first) => sameText(asked, first) && asked.target !== first.target, 'later'),
}

/** By the case that must find it. */
export const holes: Readonly<Record<string, Hole>> = {
  ...{ ...protocolHoles, ...onceHoles, ...quotedHoles, ...failureHoles, ...evidenceHoles },
}
