import { expect, test } from 'vitest'
import { formatUsd, microMax, parseMicro, parseUsd, shareOf, smallerOf, splitEqually, splitShare } from './money.ts'

test('the largest amount is what PostgreSQL can store', () => {
  expect(microMax).toBe(9_223_372_036_854_775_807n)
})

test('amounts read as they were written, up to their longest', () => {
  expect(parseMicro('0')).toBe(0n)
  expect(parseMicro('10')).toBe(10n)
  for (const bad of ['1000000000000000000', 'x1', '1x', '1\n', '00', '0x1'])
    expect(parseMicro(bad), bad).toBeUndefined()
  expect(parseUsd('0')).toBe(0n)
  expect(parseUsd('12')).toBe(12_000_000n)
  expect(parseUsd('999999999999.999999')).toBe(999_999_999_999_999_999n)
  for (const bad of ['1000000000000', '01', '00.1', 'x1', '1x', '1.1x', '0.0000000', '1.a'])
    expect(parseUsd(bad), bad).toBeUndefined()
})

test('dollars are shown with as few digits as they need', () => {
  const shown = [0n, 1n, -1n, 20_000n, 1_000_000n, -1_500_000n, 100_000_000n, 1_000_010n].map(formatUsd)
  expect(shown).toEqual(['0', '0.000001', '-0.000001', '0.02', '1', '-1.5', '100', '1.00001'])
})

test('the smaller of two', () => {
  expect([smallerOf(1n, 2n), smallerOf(2n, 1n), smallerOf(3n, 3n)]).toEqual([1n, 1n, 3n])
})

test('a share of nothing is nothing, of all it is all, and outside of that there is none', () => {
  expect([shareOf(0n, 10_000n), shareOf(7n, 10_000n), shareOf(7n, 0n)]).toEqual([0n, 7n, 0n])
  for (const [gross, bps] of [
    [-1n, 1n],
    [1n, -1n],
    [1n, 10_001n],
  ] as const)
    expect(() => shareOf(gross, bps)).toThrow(RangeError)
  expect(splitShare(9_999n, 1n)).toEqual({ share: 0n, rest: 9_999n })
})

test('equal parts floor, and the first takes what is left over', () => {
  expect(splitEqually(10n, 3)).toEqual([4n, 3n, 3n])
  expect(splitEqually(0n, 2)).toEqual([0n, 0n])
  expect(splitEqually(5n, 1)).toEqual([5n])
  for (const [gross, count] of [
    [-1n, 2],
    [1n, 0],
    [1n, -1],
    [1n, 1.5],
    [1n, Number.NaN],
  ] as const)
    expect(() => splitEqually(gross, count)).toThrow('nothing to split between')
})
