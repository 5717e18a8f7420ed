import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatUsd, parseMicro, parseUsd, shareOf, splitEqually, splitShare } from './money.ts'

const anyMicro = fc.bigInt({ min: 0n, max: 10n ** 15n })

test('L1, L25: the toll, royalty and affiliate examples come out to the micro', () => {
  const rows: [bigint, bigint, bigint][] = [
    [5000n, 500n, 125n],
    [5001n, 500n, 125n],
    [4999n, 499n, 124n],
    [19n, 1n, 0n],
    [9n, 0n, 0n],
    [1n, 0n, 0n],
  ]
  for (const [gross, toll, royalty] of rows) {
    expect(splitShare(gross, 1000n)).toEqual({ share: toll, rest: gross - toll })
    expect(shareOf(gross, 250n)).toBe(royalty)
  }
})

test('L2: every gross from 0 to a million, and random ones to 10^15, splits without making or losing money', () => {
  for (let gross = 0n; gross <= 1_000_000n; gross += 1n) {
    const { share, rest } = splitShare(gross, 1000n)
    if (share < 0n || rest < 0n || share + rest !== gross) throw new Error(`share of ${gross}`)
  }
  fc.assert(
    fc.property(anyMicro, fc.bigInt({ min: 0n, max: 10_000n }), (gross, bps) => {
      const { share, rest } = splitShare(gross, bps)
      return share + rest === gross && share >= 0n && rest >= 0n
    }),
  )
  fc.assert(
    fc.property(anyMicro, fc.integer({ min: 1, max: 50 }), (gross, count) => {
      const parts = splitEqually(gross, count)
      return parts.reduce((sum, part) => sum + part, 0n) === gross && parts.every((part) => part >= 0n)
    }),
  )
})

test('L4: amounts that are no plain integers are refused', () => {
  for (const bad of [
    '-1',
    'NaN',
    'Infinity',
    '1e21',
    '0.1',
    '5,000',
    '5000 ',
    '٥000',
    '',
    '01',
    '+1',
    '9223372036854775808',
  ])
    expect(parseMicro(bad), bad).toBeUndefined()
  expect(parseMicro('999999999999999999')).toBe(999_999_999_999_999_999n)
})

test('L5: decimal text is parsed as text, never through a float', () => {
  expect(parseUsd('1.005')).toBe(1_005_000n)
  expect(parseUsd('0.07')).toBe(70_000n)
  for (const bad of ['1.0000001', '.5', '5.', '-1', '1e3', '1,5', ' 1', '1 ', '٥', ''])
    expect(parseUsd(bad), bad).toBeUndefined()
})

test('parsers give a result for any text, and every valid value survives the round trip', () => {
  fc.assert(
    fc.property(fc.string(), (raw) =>
      [parseMicro(raw), parseUsd(raw)].every((v) => v === undefined || typeof v === 'bigint'),
    ),
  )
  fc.assert(
    fc.property(anyMicro, (micro) => parseMicro(micro.toString()) === micro && parseUsd(formatUsd(micro)) === micro),
  )
})
