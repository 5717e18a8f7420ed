import { expect, test } from 'vitest'
import { capOf, contractSize, isInBand, parseSymbol, payoffOf, premiumOf, symbolOf, widthOf } from './contract-terms.ts'

test('the band holds its two ends and nothing beyond them', () => {
  expect([49_999_999n, 50_000_000n, 120_000_000n, 120_000_001n].map(isInBand)).toEqual([false, true, true, false])
})

test('a call is capped by its width, a put by its strike', () => {
  expect([widthOf('C', 40), widthOf('P', 40)]).toEqual([100, 40])
  expect(capOf({ width: 40, sizeMicro: 3n })).toBe(120n)
})

test('a fraction of a micro is never paid out, and never left out of a premium', () => {
  const terms = { kind: 'C' as const, strike: 100, width: 100, sizeMicro: 9_999n }
  expect(payoffOf(terms, 1_000_001n)).toBe(0n)
  expect(payoffOf(terms, 1_000_002n)).toBe(1n)
  expect(premiumOf(0.5, 3n)).toBe(2n)
  expect(premiumOf(0.5, 4n)).toBe(2n)
})

test('no size is given where a price is no price or the band cannot be met', () => {
  for (const price of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e-12, 1e9])
    expect(contractSize(price, 'C', 100, 80_000_000n), String(price)).toBeUndefined()
  expect(contractSize(10, 'C', 100, 40_000_000n)).toBeUndefined()
  expect(contractSize(10, 'C', 100, 130_000_000n)).toBeUndefined()
})

test('the smallest size is one micro a point', () => {
  expect(contractSize(80_000_000, 'P', 80_000_001, 80_000_000n)).toBe(1n)
})

test('collateral is more than the premium and at most thirty times as much', () => {
  expect(contractSize(100, 'C', 100, 80_000_000n)).toBeUndefined()
  expect(contractSize(50, 'C', 100, 80_000_000n)).toBe(1_600_000n)
  expect(contractSize(4, 'P', 120, 80_000_000n)).toBe(20_000_000n)
  expect(contractSize(4, 'P', 121, 80_000_000n)).toBeUndefined()
})

test('a symbol names the minute only where it is not the usual one', () => {
  const parts = { cluster: 'a-b', strike: 95, kind: 'P' as const }
  const cases = [
    [Date.UTC(2026, 0, 2, 8, 0), 'TC-a-b-20260102-95-P'],
    [Date.UTC(2026, 0, 2, 8, 5), 'TC-a-b-202601020805-95-P'],
    [Date.UTC(2026, 0, 2, 9, 0), 'TC-a-b-202601020900-95-P'],
  ] as const
  for (const [expiresAtMs, symbol] of cases) {
    expect(symbolOf({ ...parts, expiresAtMs })).toBe(symbol)
    expect(parseSymbol(symbol)).toEqual({ ...parts, expiresAtMs })
    for (const spoilt of [`x${symbol}`, `${symbol}x`, `${symbol}\n`]) expect(parseSymbol(spoilt)).toBeUndefined()
  }
})
