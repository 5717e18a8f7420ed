import { expect, test } from 'vitest'
import { choosePaymentMethod, type PaymentMethod, type PaymentMethodFacts } from './choose-payment-method.ts'

const facts = (offered: readonly PaymentMethod[], more: Partial<PaymentMethodFacts> = {}): PaymentMethodFacts => ({
  offered: new Set(offered),
  possible: new Set(offered.filter((paymentMethod) => paymentMethod !== 'credit')),
  priceMicro: 1_000n,
  ...more,
})
const of = (...given: Parameters<typeof facts>) => choosePaymentMethod(facts(...given))

test('a single call is paid by exact, and the reason says what is at risk', () => {
  expect(of(['exact', 'credit'])).toEqual({
    paymentMethod: 'exact',
    why: 'exact: one signature for 0.001 USD, without a balance or an allowance; no more than that is at risk',
  })
})

test('credit that covers the price goes first, upto before exact, exact before Permit2 and MPP', () => {
  const all = ['mpp', 'permit2', 'exact', 'upto', 'credit'] as const
  const possible = new Set<PaymentMethod>(all)
  const seen: (PaymentMethod | undefined)[] = []
  for (let n = 0; n < all.length; n += 1) {
    const choice = of(all, { possible, creditMicro: 5_000_000n })
    seen.push(choice?.paymentMethod)
    expect(choice?.why).toMatch(new RegExp(`^${choice?.paymentMethod}: .{20,}`))
    possible.delete(choice?.paymentMethod as PaymentMethod)
  }
  expect(seen).toEqual(['credit', 'upto', 'exact', 'permit2', 'mpp'])
  expect(of(all, { possible })).toBeUndefined()
})

test('many small calls are advised to pay in once; few or dear ones are not', () => {
  const advice = (expectedCalls: number, priceMicro: bigint) =>
    of(['exact', 'credit'], { expectedCalls, priceMicro })?.advice
  expect(advice(100, 1_000n)).toContain('for 100 calls, pay in 0.1 USD once')
  for (const [calls, price] of [
    [19, 1_000n],
    [100, 10_001n],
  ] as const)
    expect(advice(calls, price)).toBeUndefined()
  expect(of(['exact'], { expectedCalls: 1_000 })?.advice).toBeUndefined()
})

test('advice for a metered answer that is paid by exact names upto', () => {
  const choice = of(['exact', 'upto'], { possible: new Set(['exact']) })
  expect(choice).toMatchObject({ paymentMethod: 'exact', advice: expect.stringContaining('approve Permit2 once') })
})

test('one payment method that was asked for is that payment method or none', () => {
  expect(of(['exact', 'upto'], { only: 'upto' })).toEqual({ paymentMethod: 'upto', why: 'upto: asked for' })
  expect(of(['exact', 'credit'], { only: 'credit' })).toBeUndefined()
})
