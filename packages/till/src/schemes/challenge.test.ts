import type { Json } from '@assay/protocol/canonical-json'
import { describe, expect, test } from 'vitest'
import { furtherDollar, type Network, withDollars } from '../chain/index.ts'
import { creditRequirements, takesCredit } from '../contract/credit-terms.ts'
import type { EntitledScheme } from '../contract/entitled-scheme.ts'
import type { EntitlementPort } from '../contract/entitlement.ts'
import { identifierHash, requestFingerprint } from '../contract/fingerprint.ts'
import { createOffers } from '../contract/offers.ts'
import { parseCreditPolicy } from '../credit/credit-policy.ts'
import { createCreditScheme } from '../credit/credit-scheme.ts'
import { base, callWith, movedClock, plainJws, polygon, routeWith, termsOn } from '../gate/pure-call.fixture.ts'
import { sha256 } from '../kernel/bytes.ts'
import { Problem } from '../kernel/problem.ts'
import { channelRequirements, channelScheme } from './batch-settlement/offer-channel.ts'
import { createChallenges, paymentRequiredBytesMax } from './challenge.ts'
import { createSchemes } from './create-schemes.ts'
import { encodeDraw, encodeFailure, encodeSuccess } from './encode-response.ts'
import { createExactScheme, exactRequirements } from './exact/index.ts'

const decode = (text: string) => JSON.parse(Buffer.from(text, 'base64').toString())

const authorizersOn = () => [base.usdc.address]
const pass = () => Promise.reject(new Error('nothing is paid here'))
const channels: EntitledScheme = {
  ...{ name: channelScheme, supports: () => true, isOffered: () => true, pass },
  requirements: (terms) =>
    channelRequirements({ authorizersOn, withdrawDelaySeconds: 86_400, callsPerDeposit: 2_000 }, terms),
}

const credit = createCreditScheme({} as EntitlementPort)

function openChallenges(entitled: readonly EntitledScheme[] = [credit]) {
  const clock = movedClock()
  const builds = { count: 0 }
  const challenges = createChallenges({
    clock,
    offers: createOffers(plainJws, clock),
    schemes: createSchemes([createExactScheme([base, polygon])], entitled),
    dialects: [],
    serviceName: 'Assay',
    docsOrigin: 'https://docs.example',
    termsOf: (call) => {
      builds.count += 1
      return call.route.networks.length === 0 ? [] : [termsOn(base), termsOn(polygon)]
    },
  })
  return { clock, builds, challenges }
}

describe('the 402', () => {
  test('names further dollars behind USDC, three entries at most; credit is then an extension', () => {
    const clock = movedClock()
    const dollarOn = (digit: string) =>
      furtherDollar({ address: `0x${digit.repeat(40)}`, symbol: `USD${digit}`, name: 'USD', version: '1' })
    const assets = withDollars([{ ...base, dollars: [dollarOn('b'), dollarOn('c')] }, polygon])
    const acceptsWith = (taken: readonly Network[]) => {
      const challenges = createChallenges({
        ...{
          clock,
          offers: createOffers(plainJws, clock),
          schemes: createSchemes([createExactScheme(assets)], [credit]),
          dialects: [],
        },
        ...{
          serviceName: 'Assay',
          docsOrigin: 'https://docs.example',
          termsOf: () => taken.map((one) => termsOn(one)),
        },
      })
      const { accepts, extensions } = decode(challenges.of(callWith({})).paymentRequired)
      const shown = accepts.map(
        ({ scheme, network, asset }: Record<string, string>) =>
          `${scheme} ${network} ${asset?.slice(-4).toLowerCase()}`,
      )
      return { shown, credit: extensions.credit !== undefined }
    }
    const usdc = (network: Network) => `exact ${network.caip2} ${network.usdc.address.slice(-4)}`
    expect(acceptsWith(assets)).toEqual({
      shown: [usdc(base), usdc(polygon), `exact ${base.caip2} bbbb`],
      credit: true,
    })
    expect(acceptsWith(assets.slice(0, 2))).toEqual({
      shown: [usdc(base), `exact ${base.caip2} bbbb`, `credit ${base.caip2} usdc`],
      credit: false,
    })
  })

  test('says what the answer would be made from now, and nothing where nobody knows', () => {
    const { challenges } = openChallenges()
    const body = (call: Parameters<typeof challenges.of>[0]) => JSON.parse(challenges.of(call).body)
    const state = { as_of: '2026-11-13', coverage_pct: 97.5, missing: ['prices'] }
    expect(body({ ...callWith({}), resourceUrl: 'https://a.example/x', dataState: () => state }).data_state).toEqual(
      state,
    )
    expect(body(callWith({}))).not.toHaveProperty('data_state')
  })

  test('says what has come in since within seconds, though the terms are kept for longer', () => {
    const { clock, builds, challenges } = openChallenges()
    let pages = 0
    const call = { ...callWith({}), resourceUrl: 'https://a.example/x', dataState: () => ({ pages }) }
    const shown = () => JSON.parse(challenges.of(call).body).data_state.pages
    expect(shown()).toBe(0)
    pages = 3
    clock.forward(5_000)
    expect(shown()).toBe(3)
    const { count } = builds
    challenges.of(callWith({}))
    clock.forward(5_000)
    challenges.of(callWith({}))
    expect(builds.count).toBe(count + 1)
  })

  test('says in its header what to sign, credit last, and how to bind and name a payment', () => {
    const { challenges } = openChallenges()
    const call = callWith({ route: routeWith({ bazaar: { info: 1 } }) })
    const header = decode(challenges.headers(call).paymentRequired)
    expect(header).toMatchObject({
      x402Version: 2,
      error: 'Payment required',
      resource: { url: call.resourceUrl, description: 'Echoes', mimeType: 'application/json', serviceName: 'Assay' },
      extensions: {
        bazaar: { info: 1 },
        'payment-identifier': {
          info: { required: false },
          schema: { type: 'object', properties: { id: { type: 'string' } } },
        },
        'request-binding': {
          info: { version: 1 },
          schema: { properties: { salt: { type: 'string' } }, type: 'object' },
        },
        'offer-receipt': { schema: { type: 'object' } },
      },
    })
    expect(header.accepts).toEqual([
      exactRequirements(termsOn(base)),
      exactRequirements(termsOn(polygon)),
      creditRequirements(termsOn(base)),
    ])
    expect(header.extensions['offer-receipt'].info.offers).toHaveLength(2)
  })

  test('has three entries: two networks and a channel, with credit as an extension, where a signed offer fits beside them', () => {
    const description =
      'Sends your message back, signed: the smallest paid call of this node, for first steps and tests'
    const sold = (bazaar: Json) =>
      openChallenges([channels, credit]).challenges.of(callWith({ route: routeWith({ description, bazaar }) }))
    const { paymentRequired, body } = sold({ info: { input: { type: 'http' } } })
    const header = decode(paymentRequired)
    const networks = (found: { accepts: Record<string, unknown>[] }) =>
      found.accepts.map(({ scheme, network }) => `${scheme} ${network}`)
    const exact = [`exact ${base.caip2}`, `exact ${polygon.caip2}`]
    expect(networks(header)).toEqual([...exact, `batch-settlement ${base.caip2}`])
    expect(header.extensions.credit.info).toEqual({ proof: 'erc8128' })
    expect(header.extensions['offer-receipt'].info.offers.length).toBeGreaterThan(0)
    expect(paymentRequired.length).toBeLessThanOrEqual(paymentRequiredBytesMax)
    expect(JSON.parse(body).accepts).toEqual([...header.accepts, creditRequirements(termsOn(base))])
    const long = decode(sold({ info: { input: 'x'.repeat(500) } }).paymentRequired)
    expect(networks(long)).toEqual([...exact, `credit ${base.caip2}`])
    expect(long.extensions).not.toHaveProperty('credit')
    expect(long.extensions['offer-receipt'].info.offers.length).toBeGreaterThan(0)
  })

  test('which corrects the payer of a channel has its entry, on whichever network', () => {
    const { challenges } = openChallenges([channels, credit])
    for (const { caip2: network } of [base, polygon]) {
      const state = { scheme: channelScheme, network, state: { channelState: { balance: '7' } } }
      const header = decode(challenges.corrected(callWith(), 'why', state).paymentRequired)
      expect(header.accepts.at(-1)).toMatchObject({
        ...{ scheme: 'batch-settlement', network, extra: { channelState: { balance: '7' } } },
      })
      expect(header.accepts).toHaveLength(3)
    }
  })

  test('says in its body what it costs, and what was wrong with the input', () => {
    const { challenges } = openChallenges()
    const body = JSON.parse(challenges.of(callWith()).body)
    expect(body).toMatchObject({
      code: 'payment_required',
      detail: 'This answer costs 0.02 USDC.',
      x402Version: 2,
      price_usd: '0.02',
      price_micro: '20000',
      accepts: [{}, {}, { scheme: 'credit' }],
      offers: [{}, {}],
    })
    expect(body).not.toHaveProperty('input_problem')
    const wrong = callWith({ inputProblem: new Problem('input_invalid', { detail: 'a is no number' }) })
    const refused = JSON.parse(challenges.of(wrong).body)
    expect(Object.keys(refused)[0]).toBe('input_problem')
    expect(refused).toMatchObject({
      input_problem: { code: 'input_invalid', detail: 'a is no number' },
      detail: 'This input cannot be bought: a is no number',
      price_usd: '0.02',
    })
  })

  test('names no price for input that has none', () => {
    const { challenges } = openChallenges()
    const call = callWith({ inputProblem: new Problem('input_invalid'), unpriced: true })
    const { body, paymentRequired } = challenges.of(call)
    expect(decode(paymentRequired).accepts).toEqual([])
    expect(JSON.parse(body)).toMatchObject({ accepts: [], input_problem: {} })
    expect(JSON.parse(body)).not.toHaveProperty('price_usd')
  })

  test('tells a client of version 1, which reads `error` in the body, what to do', () => {
    expect(JSON.parse(openChallenges().challenges.of(callWith()).body).error).toMatch(/X-PAYMENT .*not supported/)
  })

  test('offers no credit where none is taken, none for buying credit, and nothing without terms', () => {
    const schemes = (found: { accepts: { scheme: string }[] }) => found.accepts.map(({ scheme }) => scheme)
    const without = openChallenges([]).challenges
    expect(schemes(decode(without.headers(callWith()).paymentRequired))).toEqual(['exact', 'exact'])
    const { challenges } = openChallenges()
    expect(
      schemes(
        decode(
          challenges.headers(callWith({ route: routeWith({ id: 'till.topup', consumption: 'credit' }) }))
            .paymentRequired,
        ),
      ),
    ).toEqual(['exact', 'exact'])
    const none = challenges.of(callWith({ route: routeWith({ networks: [] }) }))
    expect(decode(none.paymentRequired).accepts).toEqual([])
    expect(decode(none.paymentRequired).extensions).not.toHaveProperty('offer-receipt')
    expect(JSON.parse(none.body).price_usd).toBe('0')
  })

  test('is kept for half a minute, for the same call alone', () => {
    const { challenges, clock, builds } = openChallenges()
    challenges.of(callWith())
    clock.forward(29_999)
    challenges.of(callWith())
    expect(builds.count).toBe(1)
    clock.forward(1)
    challenges.of(callWith())
    expect(builds.count).toBe(2)
    for (const other of [
      { resourceUrl: 'https://node.example/v1/echo?a=2' },
      { priceMicro: 1n },
      { method: 'POST' },
      { route: routeWith({ id: 'till.other' }) },
    ]) {
      const before = builds.count
      challenges.of(callWith(other))
      expect(builds.count, JSON.stringify(other.resourceUrl)).toBe(before + 1)
    }
  })

  test('is not kept for a very long address or a wrong input', () => {
    const { challenges, builds } = openChallenges()
    const url = (length: number) => 'https://node.example/'.padEnd(length, 'x')
    for (const [call, expected] of [
      [callWith({ resourceUrl: url(1_024) }), 1],
      [callWith({ resourceUrl: url(1_025) }), 2],
      [callWith({ inputProblem: new Problem('input_invalid') }), 2],
    ] as const) {
      builds.count = 0
      challenges.of(call)
      challenges.of(call)
      expect(builds.count).toBe(expected)
    }
  })

  test('evicts the oldest when it has kept very many', () => {
    const { challenges, builds } = openChallenges()
    const call = (n: number) => callWith({ resourceUrl: `https://node.example/${n}` })
    for (let n = 0; n <= 4_096; n += 1) challenges.of(call(n))
    builds.count = 0
    challenges.of(call(1))
    expect(builds.count).toBe(0)
    challenges.of(call(0))
    expect(builds.count).toBe(1)
  })

  test('leaves out of a long header what the body has: offers first, discovery last', () => {
    const { challenges } = openChallenges()
    const lengths = new Set<number>()
    for (let extra = 0; extra < 1_600; extra += 40) {
      const call = callWith({
        resourceUrl: 'https://node.example/'.padEnd(30 + extra, 'x'),
        route: routeWith({ bazaar: { text: 'b'.repeat(300) } }),
      })
      const { paymentRequired, body } = challenges.of(call)
      const { extensions } = decode(paymentRequired)
      const kept = extensions['offer-receipt']?.info.offers.length ?? 0
      if (extensions.bazaar) expect(paymentRequired.length).toBeLessThanOrEqual(paymentRequiredBytesMax)
      else expect(kept).toBe(0)
      expect(JSON.parse(body).offers).toHaveLength(2)
      lengths.add(extensions.bazaar ? kept : -1)
    }
    expect([...lengths].sort()).toEqual([-1, 0, 1, 2])
  })
})

describe('credit', () => {
  test('is drawn by a signed request within a minute, and does not buy itself', () => {
    expect(creditRequirements(termsOn(base))).toEqual({
      scheme: 'credit',
      network: base.caip2,
      amount: '20000',
      asset: 'USDC',
      payTo: 'node',
      maxTimeoutSeconds: 60,
      extra: { proof: 'erc8128' },
    })
    expect([takesCredit({ consumption: 'credit' }), takesCredit({})]).toEqual([false, true])
  })

  test('has its published defaults, and refuses what is no policy', () => {
    expect(parseCreditPolicy()).toEqual({ refundCostMicro: 10_000n, bondReleaseSeconds: 604_800 })
    expect(parseCreditPolicy({ refund_cost_usd: '0.5', bond_release_hours: 0.001 })).toEqual({
      refundCostMicro: 500_000n,
      bondReleaseSeconds: 4,
    })
    expect(parseCreditPolicy({ bond_release_hours: 0 }).bondReleaseSeconds).toBe(0)
    expect(parseCreditPolicy({ bond_release_hours: 8_760 }).bondReleaseSeconds).toBe(31_536_000)
    expect(() => parseCreditPolicy({ refund_cost_usd: 'x' })).toThrow('CREDIT: refund_cost_usd must be decimal USD')
    for (const bad of [{ bond_release_hours: -1 }, { bond_release_hours: 8_761 }, { other: 1 }, { refund_cost_usd: 1 }])
      expect(() => parseCreditPolicy(bad)).toThrow(RangeError)
    expect(() => parseCreditPolicy({ bond_release_hours: -1, refund_cost_usd: 1 })).toThrow('; CREDIT: ')
  })
})

test('two requests are the same only if every part of them is', () => {
  const plain = callWith()
  const of = (changes: Parameters<typeof callWith>[0]) => requestFingerprint(callWith(changes)).toString('hex')
  const prints = [
    of({}),
    of({ route: routeWith({ id: 'till.other' }) }),
    of({ method: 'POST' }),
    of({ resourceUrl: `${plain.resourceUrl}&b=2` }),
    of({ contentType: 'text/plain' }),
    of({ representation: 'text/html' }),
    of({ bodyDigest: sha256('x') }),
    of({ method: 'GE', resourceUrl: `T${plain.resourceUrl}` }),
  ]
  expect(new Set(prints).size).toBe(prints.length)
  expect(of({ contentType: 'Text/Plain; charset=utf-8' })).toBe(of({ contentType: 'text/plain' }))
  expect(identifierHash('a').equals(sha256('payment-identifier:a'))).toBe(true)
})

test('answers about payments are written as x402 wants them', () => {
  const paid = { payer: '0x1', network: base.caip2, amount: '5' }
  expect(decode(encodeSuccess({ ...paid, transaction: '0x2', receipt: 'r' }))).toEqual({
    success: true,
    ...paid,
    transaction: '0x2',
    extensions: { 'offer-receipt': { info: { receipt: { format: 'jws', signature: 'r' } } } },
  })
  expect(decode(encodeDraw({ ...paid, call: 'c', left: '7' }))).toEqual({
    success: true,
    ...paid,
    transaction: '',
    extensions: { credit: { info: { call: 'c', left: '7' } } },
  })
  expect(decode(encodeFailure({ reason: 'r', message: 'm', payer: '0x1', network: base.caip2 }))).toEqual({
    success: false,
    errorReason: 'r',
    errorMessage: 'm',
    payer: '0x1',
    transaction: '',
    network: base.caip2,
  })
})
