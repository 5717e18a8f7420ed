import { channelMistakes } from './channel-mistakes.ts'
import { mppMistakes, permit2Mistakes, routeMistakes } from './dialect-mistakes.ts'
import {
  type Asked,
  answers,
  freeAnswer,
  type Given,
  hasIdentifier,
  isServed,
  type Mistake,
  nonceOf,
  textOf,
  without,
  withTerms,
} from './exchange.ts'
import { failureMistakes, failuresFoundByMore } from './failure-mistakes.ts'

/** Serves without checking the money. */
const servesIf =
  (condition: (asked: Asked) => boolean): Mistake =>
  (sell) =>
  async (asked) =>
    condition(asked) ? freeAnswer : sell(asked)

const servesPayment = (condition: (payment: NonNullable<Asked['payment']>) => boolean): Mistake =>
  servesIf(({ payment }) => payment !== undefined && condition(payment))

const header = (given: Given, name: string, value: string): Given => ({
  ...given,
  headers: { ...given.headers, [name]: value },
})

/** Keeps paid answers and serves them to the caller that `isSame` accepts as the buyer. */
const servesAgain =
  (isSame: (asked: Asked, first: Asked) => boolean, when: 'at_once' | 'later'): Mistake =>
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

const sameNonce = (asked: Asked, first: Asked) => nonceOf(asked) === nonceOf(first)
const sameText = (asked: Asked, first: Asked) => textOf(asked) === textOf(first)
const sameTarget = (asked: Asked, first: Asked) => asked.target === first.target && asked.method === first.method
const samePath = (asked: Asked, first: Asked) => asked.target.split('?')[0] === first.target.split('?')[0]
const sameRequest = (asked: Asked, first: Asked) =>
  sameTarget(asked, first) && JSON.stringify(asked.headers) === JSON.stringify(first.headers)

const authorizationOf = ({ payload }: NonNullable<Asked['payment']>) => payload.authorization
const acceptedOf = (payment: NonNullable<Asked['payment']>) => payment['accepted'] as Record<string, unknown> | null

/** Serves what a correct seller refuses with these words. */
const servesRefusedIf = (
  condition: (asked: Asked & { payment: NonNullable<Asked['payment']> }) => Promise<boolean>,
  words: RegExp,
): Mistake =>
  answers(async (given, asked) => {
    const { payment } = asked
    if (!payment || given.status < 400 || !words.test(given.body)) return given
    return (await condition({ ...asked, payment })) ? freeAnswer : given
  })

const withoutVersion: Parameters<typeof withTerms>[1] = (terms) => ({
  ...terms,
  accepts: terms.accepts.map((offer) => ({ ...offer, extra: { ...offer.extra, version: undefined } })),
})

const onHost = (url: string, host: string | undefined): string => {
  const { pathname, search } = new URL(url)
  return `http://${host}${pathname}${search}`
}

const protocolMistakes: Record<string, Mistake> = {
  'quote-shape': answers((given) => withTerms(given, withoutVersion)),
  'quote-size': answers((given) =>
    withTerms(given, (terms) => ({ ...terms, resource: { ...terms.resource, padding: 'x'.repeat(7_000) } })),
  ),
  'shared-caches': answers((given) =>
    given.status === 402 ? header(given, 'cache-control', 'public, max-age=60') : given,
  ),
  discovery: (sell) => async (asked) =>
    asked.target === '/.well-known/x402' ? { ...freeAnswer, body: 'prices' } : sell(asked),
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
      ? withTerms(given, (terms) => ({
          ...terms,
          accepts: terms.accepts.map((offer, place) =>
            place === 0 ? { ...offer, amount: `9${offer.amount}` } : offer,
          ),
        }))
      : given,
  ),
  'forwarded-hosts': answers((given, { headers }) =>
    headers['x-forwarded-host'] && given.status === 402
      ? withTerms(given, (terms) => ({
          ...terms,
          resource: { ...terms.resource, url: onHost(terms.resource.url, headers['x-forwarded-host']) },
        }))
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

const onceMistakes: Record<string, Mistake> = {
  'copies-at-once': servesAgain(
    (asked, first) => sameText(asked, first) && asked.connection !== first.connection,
    'at_once',
  ),
  'copies-in-order': servesAgain((asked, first) => sameText(asked, first) && sameRequest(asked, first), 'later'),
  'copies-on-one-connection': servesAgain(
    (asked, first) => sameText(asked, first) && asked.connection === first.connection,
    'at_once',
  ),
  'copies-other-methods': servesAgain(
    (asked, first) => sameText(asked, first) && asked.method !== first.method,
    'later',
  ),
  'copies-other-hosts': servesAgain(
    (asked, first) => sameText(asked, first) && (asked.headers.host ?? '').endsWith('.'),
    'later',
  ),
  'copies-other-encodings': servesAgain((asked, first) => sameNonce(asked, first) && !sameText(asked, first), 'later'),
  'encodings-at-once': servesAgain((asked, first) => sameNonce(asked, first) && !sameText(asked, first), 'at_once'),
  leak: answers((given) => (isServed(given) ? header(given, 'cache-control', 'public, max-age=3600') : given)),
}

const quotedMistakes: Record<string, Mistake> = {
  underpay: servesPayment((payment) => authorizationOf(payment).value === '0'),
  'other-payee': servesPayment((payment) => authorizationOf(payment).to === authorizationOf(payment).from),
  'other-asset': servesIf(({ payment, asset }) => {
    const named = payment && acceptedOf(payment)?.asset
    return typeof named === 'string' && named.toLowerCase() !== asset.toLowerCase()
  }),
  'other-chain': servesPayment((payment) => acceptedOf(payment)?.network === 'eip155:1'),
  expiry: servesIf(({ payment, now }) => Number(payment?.payload.authorization['validBefore']) < now()),
  signature: servesPayment(({ payload }) => payload.signature === '0x'),
  'no-funds': servesRefusedIf(async ({ facts, payment }) => (await facts(payment)).isEmpty, /insufficient|balance/i),
  schemes: servesPayment((payment) => acceptedOf(payment)?.scheme === 'free'),
  'broken-documents': servesPayment((payment) => authorizationOf(payment).value === '1e3'),
  'other-resource': servesAgain(
    (asked, first) =>
      !hasIdentifier(asked) && sameText(asked, first) && asked.target !== first.target && samePath(asked, first),
    'later',
  ),
  'altered-quote': servesPayment((payment) => payment['accepted'] === null),
  'two-payments': (sell) => async (asked) => {
    const { 'x-payment': other, ...headers } = asked.headers
    if (other === undefined || !asked.payment) return sell(asked)
    await sell({ ...asked, headers })
    return { status: 500, headers: {}, body: 'error' }
  },
  overdraw: (sell) => {
    const inFlight = new Map<string, number>()
    return async (asked) => {
      const payer = asked.payment?.payload.authorization['from'] ?? ''
      inFlight.set(payer, (inFlight.get(payer) ?? 0) + 1)
      const given = await sell(asked)
      const count = inFlight.get(payer) ?? 0
      inFlight.set(payer, count - 1)
      return count > 1 && asked.payment && /insufficient|balance|in flight/i.test(given.body) ? freeAnswer : given
    }
  },
}

const evidenceMistakes: Record<string, Mistake> = {
  receipt: answers((given, { payment }) => (payment ? without(given, 'payment-response') : given)),
  digest: answers((given) => ({ ...given, body: given.body.replace('{', '{ ') })),
  'identifier-replay': servesAgain(
    (asked, first) => hasIdentifier(asked) && sameText(asked, first) && asked.target !== first.target,
    'later',
  ),
}

/** By their names; the case of the same name finds each of them, unless `foundBy` names others. */
export const mistakes: Readonly<Record<string, Mistake>> = {
  ...{ ...protocolMistakes, ...onceMistakes, ...quotedMistakes, ...failureMistakes, ...evidenceMistakes },
  ...{ ...routeMistakes, ...mppMistakes, ...permit2Mistakes, ...channelMistakes },
}

/** Mistakes that show wherever their cause does. */
const foundByMore: Readonly<Record<string, readonly string[]>> = {
  'copies-in-order': ['copies-in-order', 'reorganised'],
  // An answer that is changed after it was signed.
  ...Object.fromEntries(
    ['quote-shape', 'quote-size', 'digest'].map((mistake) => [mistake, [mistake, 'answer-signature']]),
  ),
  'no-funds': ['no-funds', 'carried-after-402'],
  // A buyer who comes back after the expiry gets another answer than was bought.
  expiry: ['expiry', 'retention'],
  ...failuresFoundByMore,
}

/** The cases that must find a mistake: no other may. */
export const foundBy = (mistake: string): readonly string[] => foundByMore[mistake] ?? [mistake]
