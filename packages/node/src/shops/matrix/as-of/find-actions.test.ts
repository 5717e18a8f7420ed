import { expect, test } from 'vitest'
import { findActions, type Line, shareFactor } from './find-actions.ts'

const line = (symbol: string, cusip: string, days: [number, number], prices: [number, number]): Line => ({
  symbol,
  cusip,
  first: days[0],
  last: days[1],
  firstPrice: prices[0],
  lastPrice: prices[1],
  file: 1,
})

test('one security number under two symbols is a change of symbol, whatever the price', () => {
  const { renames, splits } = findActions(
    [line('NEW', 'A', [120, 130], [50, 51]), line('OLD', 'A', [100, 110], [20, 21])],
    [],
  )
  expect(renames).toEqual([{ from: 'OLD', to: 'NEW', lastOld: 110, firstNew: 120, file: 1 }])
  expect(splits.size).toBe(0)
})

test('a new security number at another price is a split of unknown ratio; at about the same price it is none', () => {
  const lines = (price: number) => [
    line('XYZ', 'A', [100, 110], [1, 0.9]),
    line('XYZ', 'B', [112, 115], [price, price]),
  ]
  expect(findActions(lines(2.6), []).splits.get('XYZ')).toEqual([{ day: 112, factor: Number.NaN, file: 1 }])
  expect(findActions(lines(1.1), []).splits.size).toBe(0)
  const listed = { symbol: 'XYZ', day: 111, factor: 1 / 3, newSymbol: null, file: 2 }
  expect(findActions(lines(2.6), [listed]).splits.get('XYZ')).toEqual([{ day: 111, factor: 1 / 3, file: 2 }])
})

test('shares of a day are counted in shares of now, and what is not yet due does not count', () => {
  const splits = [
    { day: 50, factor: 3, file: 1 },
    { day: 80, factor: 0.1, file: 1 },
  ]
  expect([49, 50, 79, 80].map((day) => shareFactor(splits, day, 100))).toEqual([3 * 0.1, 0.1, 0.1, 1])
  expect(shareFactor(splits, 49, 79)).toBe(3)
  expect(shareFactor(undefined, 49, 100)).toBe(1)
})
