import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromAmerican, fromBasic, fromDayNumber, fromMonthName, isIsoDate, toDayNumber } from './dates.ts'
import { easternDate, easternToUtcMs } from './eastern-time.ts'
import { isTradingDay, settlementDates, tradingDaysUpTo } from './trading-days.ts'

test('days survive their number', () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 40_000 }), (day) => toDayNumber(fromDayNumber(day)) === day))
})

test('days that do not exist are none', () => {
  expect([
    fromBasic('20260230'),
    fromBasic('2026113'),
    fromAmerican('13/01/2026'),
    fromMonthName('31-FEB-2026'),
  ]).toEqual([undefined, undefined, undefined, undefined])
  expect(isIsoDate('2026-02-29')).toBe(false)
  expect(fromMonthName('30-Sep-2026')).toBe('2026-09-30')
})

test('Eastern time agrees with the time zone database at every hour of the changes', () => {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: 'America/New_York',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  for (let ms = Date.parse('2026-03-07T00:00:00Z'); ms < Date.parse('2026-11-03T00:00:00Z'); ms += 3_600_000 * 7)
    expect(easternDate(ms)).toBe(format.format(ms))
  expect(new Date(easternToUtcMs('2026-11-13', 18)).toISOString()).toBe('2026-11-13T23:00:00.000Z')
  expect(new Date(easternToUtcMs('2026-07-02', 18)).toISOString()).toBe('2026-07-02T22:00:00.000Z')
})

test('holidays of the exchanges are no trading days', () => {
  for (const day of ['2021-01-18', '2021-04-02', '2026-06-19', '2026-07-03', '2026-11-26', '2026-12-25', '2026-11-14'])
    expect(isTradingDay(day)).toBe(false)
  for (const day of ['2021-06-18', '2026-11-11', '2021-12-31', '2026-11-13']) expect(isTradingDay(day)).toBe(true)
  expect(tradingDaysUpTo('2021-02-12', 29)[0]).toBe('2021-01-04')
})

test('short interest settles in the middle and at the end of a month', () => {
  expect(settlementDates('2020-11-20', '2021-02-20')).toEqual([
    '2020-11-30',
    '2020-12-15',
    '2020-12-31',
    '2021-01-15',
    '2021-01-29',
    '2021-02-12',
  ])
})
