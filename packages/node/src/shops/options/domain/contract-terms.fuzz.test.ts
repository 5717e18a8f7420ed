import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  capOf,
  collateralRatioMax,
  contractSize,
  isInBand,
  parseSymbol,
  payoffOf,
  premiumOf,
  symbolOf,
  widthOf,
} from './contract-terms.ts'

const kinds = fc.constantFrom('C' as const, 'P' as const)
const strikes = fc.integer({ min: 1, max: 1_999 }).map((n) => n * 5)

test('a payoff is never more than what is locked, and of writer and holder nothing is lost', () => {
  fc.assert(
    fc.property(
      kinds,
      strikes,
      fc.bigInt({ min: 1n, max: 10n ** 9n }),
      fc.bigInt({ min: 0n, max: 10n ** 9n }),
      (kind, strike, sizeMicro, value) => {
        const terms = { kind, strike, width: widthOf(kind, strike), sizeMicro }
        const payoff = payoffOf(terms, value)
        expect(payoff >= 0n && payoff <= capOf(terms)).toBe(true)
        expect(payoff + (capOf(terms) - payoff)).toBe(capOf(terms))
      },
    ),
  )
})

test('payoffs of the known cases', () => {
  const call = { kind: 'C' as const, strike: 100, width: 100, sizeMicro: 7_820_000n }
  expect(payoffOf(call, 1_000_000n)).toBe(0n)
  expect(payoffOf(call, 1_100_000n)).toBe(78_200_000n)
  expect(payoffOf(call, 9_990_000n)).toBe(782_000_000n)
  expect(payoffOf(call, 1_000_001n)).toBe(782n)
  const put = { kind: 'P' as const, strike: 90, width: 90, sizeMicro: 1_000_000n }
  expect(payoffOf(put, 800_000n)).toBe(10_000_000n)
  expect(payoffOf(put, 0n)).toBe(capOf(put))
  expect(payoffOf(put, 900_000n)).toBe(0n)
})

test('a size that is given puts the premium into the band and the collateral within thirty premiums', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-9, max: 2_000, noNaN: true }), kinds, strikes, (price, kind, strike) => {
      const size = contractSize(price, kind, strike, 80_000_000n)
      if (size === undefined) return
      const premium = premiumOf(price, size)
      expect(isInBand(premium)).toBe(true)
      const cap = capOf({ width: widthOf(kind, strike), sizeMicro: size })
      expect(cap > premium && cap <= collateralRatioMax * premium).toBe(true)
    }),
  )
})

test('absurd collateral is refused: ten percent out of the money for a week', () => {
  expect(contractSize(1.31, 'P', 90, 80_000_000n)).toBeUndefined()
  expect(contractSize(10.22, 'C', 100, 80_000_000n)).toBe(7_827_788n)
})

test('a symbol has one spelling', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[A-Za-z0-9_-]{1,32}$/),
      fc.integer({ min: 20_000_000, max: 60_000_000 }),
      strikes,
      kinds,
      (cluster, minute, strike, kind) => {
        const parts = { cluster, expiresAtMs: minute * 60_000, strike, kind }
        expect(parseSymbol(symbolOf(parts))).toEqual(parts)
      },
    ),
  )
  expect(symbolOf({ cluster: '52', expiresAtMs: Date.UTC(2026, 11, 4, 8), strike: 100, kind: 'C' })).toBe(
    'TC-52-20261204-100-C',
  )
  for (const wrong of [
    'TC-52-20261304-100-C',
    'TC-52-202612040800-100-C',
    'TC-52-20261204-0100-C',
    'tc-52-20261204-100-C',
    'TC-52-20261204-100-X',
    'TC--20261204-100-C',
    '',
  ])
    expect(parseSymbol(wrong)).toBeUndefined()
  fc.assert(
    fc.property(
      fc.string(),
      (text) => parseSymbol(text) === undefined || symbolOf(parseSymbol(text) as never) === text,
    ),
  )
})
