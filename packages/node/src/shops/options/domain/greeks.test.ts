import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { black76, cappedValue } from './black76.ts'

const market = { forward: 104, strike: 100, volatility: 0.8, years: 0.5, rate: 0.05 }

describe('what a formula has no number for', () => {
  test('without time left a contract is worth what it pays, discounted by nothing', () => {
    expect(black76({ kind: 'C', ...market, years: 0 })).toEqual({
      price: 4,
      delta: 1,
      gamma: 0,
      vega: 0,
      theta: 0.05 * 4,
    })
    expect(black76({ kind: 'P', ...market, years: -1 })).toMatchObject({ price: 0, delta: 0 })
    expect(black76({ kind: 'P', ...market, forward: 90, years: 0 })).toMatchObject({ price: 10, delta: -1 })
    expect(black76({ kind: 'C', ...market, forward: 100, years: 0 })).toMatchObject({ price: 0, delta: 0 })
  })

  test('without volatility it is the discounted difference', () => {
    const { price, delta, theta } = black76({ kind: 'C', ...market, volatility: 0 })
    const discount = Math.exp(-0.05 * 0.5)
    expect(price).toBeCloseTo(4 * discount, 12)
    expect(delta).toBeCloseTo(discount, 12)
    expect(theta).toBeCloseTo(0.05 * 4 * discount, 12)
    expect(black76({ kind: 'P', ...market, forward: 90, volatility: 0 }).delta).toBeCloseTo(-discount, 12)
  })

  test('a call struck at nothing is the forward, a put there is worthless, and so is a call on nothing', () => {
    for (const strike of [0, -1]) {
      expect(black76({ kind: 'C', ...market, strike, rate: 0 })).toMatchObject({ price: 104 - strike, delta: 1 })
      expect(black76({ kind: 'P', ...market, strike, rate: 0 })).toMatchObject({ price: 0, delta: 0 })
    }
    for (const forward of [0, -1])
      expect(black76({ kind: 'C', ...market, forward, rate: 0 })).toMatchObject({ price: 0, delta: 0, gamma: 0 })
  })
})

const markets = fc.record({
  forward: fc.double({ min: 60, max: 160, noNaN: true }),
  strike: fc.double({ min: 60, max: 160, noNaN: true }),
  volatility: fc.double({ min: 0.3, max: 1.5, noNaN: true }),
  years: fc.double({ min: 0.05, max: 2, noNaN: true }),
  rate: fc.double({ min: 0, max: 0.2, noNaN: true }),
})

test('gamma is the slope of delta, and theta what a day takes away', () => {
  fc.assert(
    fc.property(markets, fc.constantFrom('C' as const, 'P' as const), (one, kind) => {
      const at = (change: Partial<typeof one>) => black76({ kind, ...one, ...change })
      const { gamma, theta } = at({})
      const h = one.forward * 1e-4
      const slope = (at({ forward: one.forward + h }).delta - at({ forward: one.forward - h }).delta) / (2 * h)
      expect(gamma).toBeCloseTo(slope, 5)
      const t = one.years * 1e-5
      const decay = (at({ years: one.years - t }).price - at({ years: one.years + t }).price) / (2 * t)
      expect(Math.abs(theta - decay)).toBeLessThan(1e-3 * Math.max(1, Math.abs(decay)))
    }),
    { numRuns: 60 },
  )
})

test('every greek of a capped call is that of the near call less that of the far one', () => {
  const input = { kind: 'C' as const, forward: 104, strike: 100, volatility: 0.8, years: 0.5 }
  const [near, far] = [black76(input), black76({ ...input, strike: 130 })]
  const capped = cappedValue({ ...input, width: 30 })
  for (const name of ['price', 'delta', 'gamma', 'vega', 'theta'] as const)
    expect(capped[name], name).toBeCloseTo(near[name] - far[name], 12)
  const put = { ...input, kind: 'P' as const }
  expect(cappedValue({ ...put, width: 30 })).toEqual(black76(put))
})
