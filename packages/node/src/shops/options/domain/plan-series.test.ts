import { expect, test } from 'vitest'
import { cappedValue } from './black76.ts'
import { capOf, premiumOf } from './contract-terms.ts'
import { planSeries } from './plan-series.ts'

const input = {
  cluster: '52',
  indexE4: 1_018_000n,
  volatility: 0.9,
  expiresAtMs: Date.UTC(2026, 11, 4, 8),
  years: 30 / 365.25,
  strikesAround: [-5, 0, 5],
  targetMicro: 80_000_000n,
  openInterestMicro: 10n ** 12n,
}

test('a call and a put are listed at each strike around the nearest step of five', () => {
  const plans = planSeries(input)
  expect(plans.map(({ symbol }) => symbol)).toEqual([
    'TC-52-20261204-95-C',
    'TC-52-20261204-95-P',
    'TC-52-20261204-100-C',
    'TC-52-20261204-100-P',
    'TC-52-20261204-105-C',
    'TC-52-20261204-105-P',
  ])
  for (const { kind, strike, width, sizeMicro, capMicro, ...rest } of plans) {
    expect(width).toBe(kind === 'C' ? 100 : strike)
    expect(capMicro).toBe(capOf({ width, sizeMicro }))
    const { price } = cappedValue({ kind, forward: 101.8, strike, width, volatility: 0.9, years: input.years })
    expect(Number(premiumOf(price, sizeMicro))).toBeCloseTo(80_000_000, -3)
    expect(rest).toMatchObject({
      cluster: '52',
      expiresAtMs: input.expiresAtMs,
      volatility: 0.9,
      openInterestMicro: input.openInterestMicro,
    })
  }
})

test('the nearest step is the nearest one, upwards too', () => {
  expect(planSeries({ ...input, indexE4: 1_030_000n, strikesAround: [0] })[0]?.strike).toBe(105)
  expect(planSeries({ ...input, indexE4: 1_020_000n, strikesAround: [0] })[0]?.strike).toBe(100)
})

test('a series of which one contract is more than may be open is not listed, one that fits exactly is', () => {
  const [call] = planSeries({ ...input, strikesAround: [0] })
  const size = call?.sizeMicro ?? 0n
  const strikes = (openInterestMicro: bigint) =>
    planSeries({ ...input, strikesAround: [0], openInterestMicro }).filter(({ kind }) => kind === 'C').length
  expect([strikes(size - 1n), strikes(size), strikes(size + 1n)]).toEqual([0, 1, 1])
})

test('strikes end at 5 and at 9995', () => {
  const strikesOf = (indexE4: bigint) =>
    planSeries({ ...input, indexE4, years: 1, strikesAround: [-5, 0, 5] }).map(({ strike }) => strike)
  expect(new Set(strikesOf(50_000n))).toEqual(new Set([5, 10]))
  expect(Math.max(...strikesOf(99_950_000n))).toBe(9_995)
  expect(strikesOf(99_950_000n)).toContain(9_990)
})

test('a contract whose collateral is absurd for its premium is not listed', () => {
  expect(planSeries({ ...input, years: 7 / 365.25, strikesAround: [-20] }).map(({ kind }) => kind)).not.toContain('P')
})
