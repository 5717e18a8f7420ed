import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cappedValue } from './black76.ts'
import { impliedVolatility } from './implied-volatility.ts'

const markets = fc.record({
  kind: fc.constantFrom('C' as const, 'P' as const),
  forward: fc.double({ min: 60, max: 160, noNaN: true }),
  strike: fc.double({ min: 60, max: 160, noNaN: true }),
  volatility: fc.double({ min: 0.3, max: 3, noNaN: true }),
  years: fc.double({ min: 0.01, max: 0.3, noNaN: true }),
  width: fc.constant(100),
})

test('the model gives the price back at the volatility that it implies', () => {
  fc.assert(
    fc.property(markets, fc.double({ min: 0.3, max: 3, noNaN: true }), (market, traded) => {
      const { price, vega } = cappedValue({ ...market, volatility: traded })
      const implied = impliedVolatility(price, market)
      // At the one volatility at which a capped call is dearest, a step may pass over both solutions.
      if (market.kind === 'P' && vega > 0.001) expect(implied).toBeDefined()
      fc.pre(implied !== undefined)
      expect(cappedValue({ ...market, volatility: implied ?? 0 }).price).toBeCloseTo(price, 6)
    }),
    { numRuns: 100 },
  )
})

test('a price of the model implies the volatility of the model, also where another one gives it too', () => {
  fc.assert(
    fc.property(markets, (market) => {
      const { price } = cappedValue(market)
      expect(impliedVolatility(price, market)).toBe(market.volatility)
    }),
    { numRuns: 100 },
  )
})

test('a put implies more the dearer it is, and a price beyond every volatility implies none', () => {
  const put = { kind: 'P' as const, forward: 100, strike: 100, volatility: 0.9, years: 0.05, width: 100 }
  const at = (price: number) => impliedVolatility(price, put)
  expect(at(8)).toBeLessThan(at(9) as number)
  expect(at(99)).toBeUndefined()
  expect(at(-1)).toBeUndefined()
})

test('delta and vega of a capped contract are the slopes of its price', () => {
  fc.assert(
    fc.property(markets, (market) => {
      const { delta, gamma, vega, theta } = cappedValue(market)
      const slope = (
        name: 'forward' | 'volatility' | 'years',
        of: (value: ReturnType<typeof cappedValue>) => number,
      ) => {
        const h = market[name] * 1e-4
        const at = (change: number) => of(cappedValue({ ...market, [name]: market[name] + change }))
        return (at(h) - at(-h)) / (2 * h)
      }
      const close = (greek: number, found: number) =>
        expect(Math.abs(greek - found)).toBeLessThan(1e-4 * Math.max(1, Math.abs(found)))
      close(
        delta,
        slope('forward', ({ price }) => price),
      )
      close(
        gamma,
        slope('forward', (value) => value.delta),
      )
      close(
        vega,
        slope('volatility', ({ price }) => price),
      )
      close(theta, -slope('years', ({ price }) => price))
    }),
    { numRuns: 100 },
  )
})
