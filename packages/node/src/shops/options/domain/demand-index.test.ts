import fc from 'fast-check'
import { expect, test } from 'vitest'
import { indexMethod, indexValueE4, sharesAt } from './demand-index.ts'
import { nextExpiries } from './expiries.ts'
import { lowerMedian, settlementValue } from './settlement-value.ts'
import { estimateVolatility } from './volatility.ts'

const hour = 3_600_000
const method = indexMethod(hour, 6 * hour)

test('a bucket six hours old weighs half', () => {
  expect(method.lookback).toBe(48)
  expect((method.decayPpb / 1e9) ** 6).toBeCloseTo(0.5, 7)
})

const crowd = (cluster: string, at: number, bonded: number | null) => ({
  cluster,
  startsAtMs: (at - 1) * hour,
  endsAtMs: at * hour,
  bonded,
})

test('equal demand gives equal shares, and the index starts at 100', () => {
  const inputs = [crowd('a', 1, 16), crowd('b', 1, 16), crowd('c', 1, 16), crowd('d', 1, 16)]
  const ticks = sharesAt(method, inputs, hour)
  expect(ticks.map(({ shareE12 }) => shareE12)).toEqual([25e10, 25e10, 25e10, 25e10])
  expect(indexValueE4(25e10, 25e10)).toBe(1_000_000n)
  expect(indexValueE4(27.5e10, 25e10)).toBe(1_100_000n)
})

test('a share is that of the agents', () => {
  const ticks = sharesAt(method, [crowd('a', 1, 64), crowd('b', 1, 16)], hour)
  expect(ticks[0]?.shareE12).toBe(8e11)
})

test('an unpublished cell counts as none: a crowd that was there for an hour does not count for two days', () => {
  const known = [crowd('a', 1, 16), crowd('b', 1, 16)]
  const [a] = sharesAt(method, [...known, crowd('a', 2, null), crowd('b', 2, 16)], 2 * hour)
  const kept = method.decayPpb / 1e9
  expect(a).toMatchObject({ cluster: 'a', agents: null })
  expect((a?.shareE12 ?? 0) / 1e12).toBeCloseTo(kept / (1 + kept) / (1 + kept / (1 + kept)), 9)
  const long = Array.from({ length: 48 }, (_, at) => crowd('b', at + 1, 100)).concat(crowd('new', 48, 100))
  const once = sharesAt(method, long, 48 * hour).find(({ cluster }) => cluster === 'new')
  expect((once?.shareE12 ?? 1e12) / 1e12).toBeLessThan(0.12)
})

test('a long bucket speaks for every point it covers, a bucket between two points for none', () => {
  const long = [
    { cluster: 'a', startsAtMs: 0, endsAtMs: 3 * hour, bonded: 16 },
    { cluster: 'b', startsAtMs: 0, endsAtMs: 3 * hour, bonded: 4 },
    { cluster: 'b', startsAtMs: 3 * hour + 1, endsAtMs: 4 * hour - 1, bonded: 900 },
  ]
  const short = [1, 2, 3].flatMap((at) => [crowd('a', at, 16), crowd('b', at, 4)])
  for (const at of [1, 2, 3]) expect(sharesAt(method, long, at * hour)).toEqual(sharesAt(method, short, at * hour))
  expect(sharesAt(method, long, 4 * hour)).toEqual([])
})

test('the order of what is read changes no digit, nor does what is older than the lookback', () => {
  const rows = fc.array(
    fc.record({
      cluster: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      at: fc.integer({ min: 1, max: 60 }),
      bonded: fc.option(fc.integer({ min: 0, max: 5_000 })),
    }),
    { maxLength: 120 },
  )
  fc.assert(
    fc.property(rows, (given) => {
      const unique = [...new Map(given.map((row) => [`${row.cluster} ${row.at}`, row])).values()].sort(
        (a, b) => a.at - b.at,
      )
      const inputs = unique.map(({ cluster, at, bonded }) => crowd(cluster, at, bonded))
      const recent = inputs.filter(({ endsAtMs }) => endsAtMs > (60 - method.lookback) * hour)
      expect(sharesAt(method, inputs, 60 * hour)).toEqual(sharesAt(method, recent, 60 * hour))
      const total = sharesAt(method, inputs, 60 * hour).reduce((sum, { shareE12 }) => sum + shareE12, 0)
      if (total > 0) expect(Math.abs(total - 1e12)).toBeLessThan(10)
    }),
  )
})

const rules = { windowMs: 24 * hour, tickMs: hour, agentsMin: 10, extensionsMax: 2 }
const tick = (at: number, points: number, agents: number | null = 20) => ({
  atMs: at * hour,
  valueE4: BigInt(points) * 10_000n,
  agents,
})
const steady = (from: number, to: number, points: number, agents: number | null = 20) =>
  Array.from({ length: to - from }, (_, n) => tick(from + n + 1, points, agents))

test('a push of less than half of the window does not move the settlement value', () => {
  const ticks = [...steady(0, 13, 100), ...steady(13, 24, 500)]
  expect(settlementValue(rules, ticks, 24 * hour, 24 * hour)).toMatchObject({ status: 'fixed', valueE4: 1_000_000n })
})

test('the value waits until the last bucket of the window is published', () => {
  const ticks = steady(0, 24, 100)
  expect(settlementValue(rules, ticks, 24 * hour, 23 * hour)).toEqual({
    status: 'wait',
    untilMs: 24 * hour,
    extensions: 0,
  })
})

test('too few agents move the window on, then void the series', () => {
  const thin = steady(0, 24, 100, 3)
  const later = steady(24, 48, 120)
  expect(settlementValue(rules, thin, 24 * hour, 24 * hour)).toMatchObject({ status: 'wait', untilMs: 48 * hour })
  expect(settlementValue(rules, [...thin, ...later], 24 * hour, 48 * hour)).toMatchObject({
    status: 'fixed',
    valueE4: 1_200_000n,
    extensions: 1,
  })
  expect(settlementValue(rules, [], 24 * hour, 72 * hour)).toMatchObject({ status: 'void' })
  expect(settlementValue(rules, steady(0, 72, 100, null), 24 * hour, 72 * hour)).toMatchObject({ status: 'void' })
})

test('a tick at the very expiry counts, one at the start of the window does not', () => {
  const one = { ...rules, windowMs: hour }
  expect(settlementValue(one, [tick(23, 1), tick(24, 7)], 24 * hour, 24 * hour)).toMatchObject({ valueE4: 70_000n })
})

test('the lower of two middle values is taken', () => {
  expect(lowerMedian([3n, 1n, 2n, 4n])).toBe(2n)
  expect(lowerMedian([5n])).toBe(5n)
})

test('volatility has a floor, a ceiling and a markup', () => {
  expect(estimateVolatility([100, 100, 100], 8_766)).toBe(0.3)
  expect(estimateVolatility([100], 8_766)).toBe(0.3)
  expect(estimateVolatility([100, 200, 100, 200], 8_766)).toBe(3)
  const step = 0.01
  const walk = Array.from({ length: 200 }, (_, n) => 100 * Math.exp(n % 2 === 0 ? 0 : step))
  expect(estimateVolatility(walk, 8_766)).toBeCloseTo(step * Math.sqrt(8_766) * 1.1, 3)
})

test('expiries are Fridays at eight, and strictly later than now', () => {
  const friday = Date.UTC(2026, 10, 20, 8)
  expect(nextExpiries({ kind: 'fridays', count: 2 }, Date.UTC(2026, 10, 15, 8))).toEqual([
    friday,
    friday + 7 * 86_400_000,
  ])
  expect(nextExpiries({ kind: 'fridays', count: 1 }, friday)).toEqual([friday + 7 * 86_400_000])
  expect(nextExpiries({ kind: 'fridays', count: 1 }, friday - 1)).toEqual([friday])
  expect(nextExpiries({ kind: 'every', everyMs: 120_000, count: 2 }, 120_000)).toEqual([240_000, 360_000])
})
