import { checksumAddress } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import { describe, expect, test } from 'vitest'
import { createOffers, offeredRequest } from '../../contract/offers.ts'
import { payeeAddress, type Terms, termsFor } from '../../contract/terms.ts'
import {
  base,
  callWith,
  movedClock,
  payTo,
  plainJws,
  polygon,
  routeWith,
  termsOn,
} from '../../gate/pure-call.fixture.ts'
import { sha256 } from '../../kernel/bytes.ts'
import type { ExactSchemePayment } from './decode-exact.ts'
import { exactRequirements } from './index.ts'
import { matchTerms } from './match-terms.ts'

const custody = `0x${'cc'.repeat(20)}` as const
const payees = { pay_to: { [base.caip2]: payTo, [polygon.caip2]: payTo }, custody: { [base.caip2]: custody } }
const networks = new Map([base, polygon].map((network) => [network.caip2, network]))

describe('terms', () => {
  test('each network of a route gets its own', () => {
    expect(termsFor(networks, payees, routeWith(), 5n)).toEqual([
      termsOn(base, { amountMicro: 5n }),
      termsOn(polygon, { amountMicro: 5n }),
    ])
    expect(() => termsFor(new Map(), payees, routeWith(), 5n)).toThrow('which is not configured')
  })

  test('money of others goes to the custody address of the very network', () => {
    expect(payeeAddress(payees, 'pay_to', polygon.caip2)).toBe(payTo)
    expect(payeeAddress(payees, 'custody', base.caip2)).toBe(custody)
    expect(() => payeeAddress(payees, 'custody', polygon.caip2)).toThrow('no custody address')
  })

  test('are written as x402 wants them', () => {
    expect(exactRequirements(termsOn(base))).toEqual({
      scheme: 'exact',
      network: 'eip155:8453',
      amount: '20000',
      asset: checksumAddress(base.usdc.address),
      payTo: checksumAddress(payTo),
      maxTimeoutSeconds: 90,
      extra: { name: 'USD Coin', version: '2' },
    })
  })
})

const digest = Buffer.from(sha256('big'))

test('an offer names its input where that decides the price, and its method where it is no GET', () => {
  const fixed = routeWith({ fixedPrice: true })
  const named = (method: string) => `${method} ${digest.toString('base64url')}`
  expect(offeredRequest(callWith())).toBeUndefined()
  expect(offeredRequest(callWith({ bodyDigest: digest }))).toBe(named('GET'))
  expect(offeredRequest(callWith({ method: 'POST', bodyDigest: digest }))).toBe(named('POST'))
  expect(offeredRequest(callWith({ method: 'POST' }))).toMatch(/^POST .{43}$/)
  expect(offeredRequest(callWith({ route: fixed, bodyDigest: digest }))).toBeUndefined()
  expect(offeredRequest(callWith({ route: fixed, method: 'POST', bodyDigest: digest }))).toBe('POST')
})

describe('signed offers', () => {
  const clock = movedClock()
  const offers = createOffers(plainJws, clock)
  const post = callWith({ method: 'POST', bodyDigest: digest })
  const asExact = (terms: Terms) => ({ scheme: 'exact', terms })
  const signed = (call = callWith(), terms = termsOn(base), scheme = 'exact') =>
    (offers.sign(call, [{ scheme, terms }])[0] as { signature: string }).signature

  test('say everything that a buyer may hold us to', () => {
    expect(offers.sign(post, [termsOn(polygon), termsOn(base)].map(asExact))).toMatchObject([
      { format: 'jws', acceptIndex: 0 },
      { format: 'jws', acceptIndex: 1 },
    ])
    expect(plainJws.verify(signed(post))).toEqual({
      version: 1,
      resourceUrl: post.resourceUrl,
      request: offeredRequest(post),
      scheme: 'exact',
      network: base.caip2,
      asset: checksumAddress(base.usdc.address),
      payTo: checksumAddress(payTo),
      amount: '20000',
      validUntil: 1_700_000_600,
    })
    expect(plainJws.verify(signed())).not.toHaveProperty('request')
  })

  test('are honoured to their last second and not after it', () => {
    const moved = movedClock()
    const own = createOffers(plainJws, moved)
    const one = (own.sign(post, [asExact(termsOn(base))])[0] as { signature: string }).signature
    moved.forward(600_000)
    expect(own.honour(one)).toEqual({
      scheme: 'exact',
      resourceUrl: post.resourceUrl,
      request: offeredRequest(post),
      network: base.caip2,
      asset: base.usdc.address,
      payTo,
      amountMicro: 20_000n,
    })
    moved.forward(1_000)
    expect(own.honour(one)).toBeUndefined()
  })

  test('are nothing where a part is missing or another kind of thing', () => {
    const whole = plainJws.verify(signed(post)) as Record<string, Json>
    expect(offers.honour(plainJws.sign(whole))).toBeDefined()
    for (const change of [
      { version: 2 },
      { scheme: 7 },
      { asset: 'x' },
      { payTo: 7 },
      { amount: 20_000 },
      { amount: '-1' },
      { resourceUrl: 7 },
      { network: null },
      { request: 7 },
      { validUntil: '1800000000' },
    ])
      expect(offers.honour(plainJws.sign({ ...whole, ...change })), JSON.stringify(change)).toBeUndefined()
    for (const other of [null, 'text', 7, [whole]]) expect(offers.honour(plainJws.sign(other as Json))).toBeUndefined()
    expect(offers.honour('theirs.e30')).toBeUndefined()
  })

  type Changes = Partial<ExactSchemePayment['envelope']>
  const payment = (changes: Changes = {}, authorization: { to?: string; value?: bigint } = {}) => {
    const envelope = {
      scheme: 'exact',
      network: base.caip2,
      asset: base.usdc.address,
      payTo,
      amount: '20000',
      offers: [],
      ...changes,
    }
    const signed = { authorization: { to: payTo, value: 20_000n, ...authorization } }
    const paymentKey = `0x${'33'.repeat(32)}`
    return { envelope, network: envelope.network, paymentKey, signed } as unknown as ExactSchemePayment
  }
  const match = (given: ExactSchemePayment, call = callWith(), current = [termsOn(base), termsOn(polygon)]) =>
    matchTerms(given, call, current, offers)
  const reasonOf = (outcome: ReturnType<typeof match>) =>
    outcome.status === 'invalid' ? outcome.reason : outcome.status

  test('a payment must fit our own terms in every part', () => {
    expect(match(payment())).toEqual({ status: 'ok', terms: termsOn(base) })
    const onPolygon = payment({ network: polygon.caip2, asset: polygon.usdc.address })
    expect(match(onPolygon)).toEqual({ status: 'ok', terms: termsOn(polygon) })
    const other = `0x${'bb'.repeat(20)}` as const
    const recipient = 'invalid_exact_evm_payload_recipient_mismatch'
    const value = 'invalid_exact_evm_payload_authorization_value_mismatch'
    expect(match(payment({ network: 'eip155:1' }))).toMatchObject({
      reason: 'invalid_network',
      detail: 'Not taken on eip155:1; pay on eip155:8453, eip155:137.',
    })
    expect(reasonOf(match(payment({ asset: other })))).toBe('invalid_exact_evm_asset_mismatch')
    expect(reasonOf(match(payment({ payTo: other })))).toBe(recipient)
    expect(reasonOf(match(payment({}, { to: other })))).toBe(recipient)
    expect(reasonOf(match(payment({}, { value: 19_999n })))).toBe(value)
    expect(reasonOf(match(payment({ amount: '19999' }, { value: 19_999n })))).toBe(value)
    expect(reasonOf(match(payment({ amount: 'x' })))).toBe(value)
  })

  test('an older price is taken with the offer for it, and only for what it was offered for', () => {
    const old = {
      amount: '15000',
      offers: ['theirs.e30', signed(callWith(), termsOn(base, { amountMicro: 15_000n }))],
    }
    const paid = payment(old, { value: 15_000n })
    expect(match(paid)).toEqual({ status: 'ok', terms: termsOn(base, { amountMicro: 15_000n }) })
    const refusedFor = (given: ExactSchemePayment, call = callWith()) => match(given, call).status
    expect(refusedFor(payment({ ...old, amount: '14000' }, { value: 14_000n }))).toBe('invalid')
    expect(refusedFor(paid, callWith({ resourceUrl: 'https://node.example/v1/echo?a=2' }))).toBe('invalid')
    expect(refusedFor(paid, callWith({ method: 'POST' }))).toBe('invalid')
    const elsewhere = { ...old, network: polygon.caip2, asset: polygon.usdc.address }
    expect(refusedFor(payment(elsewhere, { value: 15_000n }))).toBe('invalid')
    const ofAnother = signed(callWith(), termsOn(base, { amountMicro: 15_000n }), 'upto')
    expect(refusedFor(payment({ ...old, offers: [ofAnother] }, { value: 15_000n }))).toBe('invalid')
    for (const change of [{ payTo: custody }, { asset: custody }]) {
      const strange = signed(callWith(), termsOn(base, { amountMicro: 15_000n, ...change }))
      expect(refusedFor(payment({ ...old, offers: [strange] }, { value: 15_000n }))).toBe('invalid')
    }
  })
})
