import { expect, test } from 'vitest'
import { toDayNumber } from '../calendar/dates.ts'
import { createDemoSecurities, shortInterestOn, volumeOn } from './demo-securities.ts'
import { planDemo } from './plan.ts'

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] as number

test('the most shorted of the demo could cover within days, as the most shorted US stocks could in 2021 (4 to 8 at the median)', () => {
  const day = toDayNumber('2026-11-13')
  const shares = createDemoSecurities(6_000).filter(({ kind }) => kind === 'share')
  const shorted = shares
    .map((one) => {
      const position = shortInterestOn(one, day)
      const volumes = Array.from({ length: 10 }, (_, back) => volumeOn(one, day - back))
      return {
        ratio: position / one.shares,
        daysToCover: position / (volumes.reduce((sum, volume) => sum + volume, 0) / 10),
        turnover: one.volume / one.shares,
      }
    })
    .sort((a, b) => b.ratio - a.ratio)
  const top = shorted.slice(0, 40)
  expect(median(top.map(({ daysToCover }) => daysToCover))).toSatisfy((days: number) => days > 3 && days < 9)
  expect(median(top.map(({ ratio }) => ratio))).toSatisfy((ratio: number) => ratio > 0.18 && ratio < 0.5)
  expect(median(top.map(({ turnover }) => turnover))).toBeGreaterThan(
    median(shorted.map(({ turnover }) => turnover)) * 2,
  )
})

test('no file of the demo is public after the moment it is made for, and shares and holdings are of the last quarter filed for', () => {
  const nowMs = Date.parse('2026-11-17T12:00:00Z')
  const made = planDemo(nowMs, { symbols: 25, tradingDays: 3 }).flatMap((planned) =>
    planned.source === 'sec-shares' || planned.source === 'sec-13f' ? [{ ...planned, ...planned.make() }] : [],
  )
  for (const { availableAtMs } of made) expect(availableAtMs).toBeLessThan(nowMs)
  expect(made.map(({ source, key }) => [source, key])).toEqual([
    ['sec-shares', 'sec-shares 2026-09-30'],
    ['sec-13f', 'sec-13f 2026-06-30'],
  ])
})
