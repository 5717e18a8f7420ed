import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { black76, cappedValue } from './black76.ts'
import { normalCdf } from './normal.ts'

describe('published values', () => {
  test('Haug: nine months on Brent futures at 19 with 28 %', () => {
    const input = { forward: 19, strike: 19, volatility: 0.28, years: 0.75, rate: 0.1 }
    expect(black76({ kind: 'C', ...input }).price).toBeCloseTo(1.7011, 4)
    expect(black76({ kind: 'P', ...input }).price).toBeCloseTo(1.7011, 4)
  })

  test('Hull: a four month put on crude futures at 20 with 25 %', () => {
    const put = black76({ kind: 'P', forward: 20, strike: 20, volatility: 0.25, years: 4 / 12, rate: 0.09 })
    expect(put.price).toBeCloseTo(1.12, 2)
  })

  test.each([
    ['C', 100, 30, 0.9, 10.22],
    ['C', 120, 30, 0.9, 3.96],
    ['P', 90, 7, 0.9, 1.31],
    ['C', 100, 7, 1.5, 8.27],
  ] as const)('a capped %s at %s for %s days costs what the reference says', (kind, strike, days, volatility, unit) => {
    const years = days / 365.25
    expect(cappedValue({ kind, forward: 100, strike, width: 100, volatility, years }).price).toBeCloseTo(unit, 1)
  })

  test('the normal distribution agrees with its tables', () => {
    expect(normalCdf(0)).toBe(0.5)
    expect(normalCdf(1.96)).toBeCloseTo(0.9750021048517795, 14)
    expect(normalCdf(-1)).toBeCloseTo(0.15865525393145707, 14)
    expect(normalCdf(-5) / 2.866515718791933e-7).toBeCloseTo(1, 10)
    expect(normalCdf(-40)).toBe(0)
    expect(normalCdf(40)).toBe(1)
  })
})

const markets = fc.record({
  forward: fc.double({ min: 1, max: 500, noNaN: true }),
  strike: fc.double({ min: 1, max: 500, noNaN: true }),
  volatility: fc.double({ min: 0.3, max: 3, noNaN: true }),
  years: fc.double({ min: 1e-4, max: 2, noNaN: true }),
  rate: fc.double({ min: 0, max: 0.2, noNaN: true }),
})

test('puts and calls keep their parity', () => {
  fc.assert(
    fc.property(markets, (market) => {
      const call = black76({ kind: 'C', ...market })
      const put = black76({ kind: 'P', ...market })
      const apart = Math.exp(-market.rate * market.years) * (market.forward - market.strike)
      expect(call.price - put.price).toBeCloseTo(apart, 8)
      expect(call.delta - put.delta).toBeCloseTo(Math.exp(-market.rate * market.years), 10)
    }),
  )
})

test('greeks are the slopes of the price', () => {
  fc.assert(
    fc.property(markets, fc.constantFrom('C' as const, 'P' as const), (market, kind) => {
      fc.pre(market.volatility * Math.sqrt(market.years) > 0.05)
      const at = (change: Partial<typeof market>) => black76({ kind, ...market, ...change }).price
      const h = market.forward * 1e-4
      const greeks = black76({ kind, ...market })
      const slope = (at({ forward: market.forward + h }) - at({ forward: market.forward - h })) / (2 * h)
      expect(greeks.delta).toBeCloseTo(slope, 4)
      const vega = (at({ volatility: market.volatility + 1e-4 }) - at({ volatility: market.volatility - 1e-4 })) / 2e-4
      expect(Math.abs(greeks.vega - vega)).toBeLessThan(1e-3 * Math.max(1, Math.abs(vega)))
    }),
    { numRuns: 60 },
  )
})

test('a capped call is between nothing and its cap', () => {
  fc.assert(
    fc.property(markets, ({ rate: _, ...market }) => {
      const { price } = cappedValue({ kind: 'C', width: 100, ...market })
      expect(price).toBeGreaterThanOrEqual(0)
      expect(price).toBeLessThanOrEqual(100 + 1e-9)
      expect(price).toBeLessThanOrEqual(black76({ kind: 'C', ...market }).price + 1e-9)
    }),
  )
})
