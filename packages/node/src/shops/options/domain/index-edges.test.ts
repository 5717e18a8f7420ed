import { describe, expect, test } from 'vitest'
import { indexMethod, indexValueE4, sharesAt } from './demand-index.ts'
import { lowerMedian, settlementValue } from './settlement-value.ts'
import { estimateVolatility } from './volatility.ts'

const hour = 3_600_000
const bucket = (cluster: string, from: number, to: number, bonded: number | null) => ({
  cluster,
  startsAtMs: from * hour,
  endsAtMs: to * hour,
  bonded,
})

describe('shares', () => {
  const method = { tickMs: hour, decayPpb: 500_000_000, lookback: 3 }

  test('each hour back weighs half of the next, and what is older than the lookback nothing', () => {
    const inputs = [
      bucket('a', 0, 1, 1_000_000),
      bucket('a', 1, 2, 16),
      bucket('a', 2, 3, 4),
      bucket('a', 3, 4, 1),
      bucket('b', 1, 4, 1),
    ]
    const level = (1 * 1 + 0.5 * 4 + 0.25 * 16) / 1.75
    expect(sharesAt(method, inputs, 4 * hour)).toEqual([
      { cluster: 'a', atMs: 4 * hour, shareE12: Math.round((level / (level + 1)) * 1e12), agents: 1 },
      { cluster: 'b', atMs: 4 * hour, shareE12: Math.round((1 / (level + 1)) * 1e12), agents: 1 },
    ])
  })

  test('a bucket speaks for no hour before its start', () => {
    const inputs = [bucket('a', 2, 3, 4), bucket('b', 0, 3, 16)]
    expect(sharesAt(method, inputs, 3 * hour).map(({ shareE12 }) => shareE12)).toEqual([
      Math.round((4 / 1.75 / (4 / 1.75 + 16)) * 1e12),
      Math.round((16 / (4 / 1.75 + 16)) * 1e12),
    ])
  })

  test('clusters come in the order of their names, whatever the order they were read in', () => {
    const inputs = ['c', 'a', 'd', 'b'].map((name) => bucket(name, 0, 1, 4))
    expect(sharesAt(method, inputs, hour).map(({ cluster }) => cluster)).toEqual(['a', 'b', 'c', 'd'])
  })

  test('a cluster that was never published has no share, and no demand at all gives no tick', () => {
    const inputs = [bucket('a', 0, 1, null), bucket('b', 0, 1, 4)]
    expect(sharesAt(method, inputs, hour).map(({ cluster }) => cluster)).toEqual(['b'])
    expect(sharesAt(method, [bucket('a', 0, 1, 0), bucket('b', 0, 1, 0)], hour)).toEqual([])
  })

  test('a method halves within its half-life and looks back on eight of them, on one point at least', () => {
    expect(indexMethod(hour, 6 * hour)).toEqual({ tickMs: hour, decayPpb: 890_898_718, lookback: 48 })
    expect(indexMethod(hour, 1).lookback).toBe(1)
  })
})

test('an index without a base share is refused', () => {
  for (const base of [0, -1]) expect(() => indexValueE4(1, base)).toThrow('needs a base share')
  expect(indexValueE4(1, 3)).toBe(333_333n)
  expect(indexValueE4(2, 3)).toBe(666_667n)
})

describe('the settlement value', () => {
  const rules = { windowMs: 4 * hour, tickMs: hour, agentsMin: 10, extensionsMax: 1 }
  const tick = (at: number, points: number, agents: number | null = 10) => ({
    atMs: at * hour,
    valueE4: BigInt(points) * 10_000n,
    agents,
  })

  test('a tick with just enough agents counts, one with fewer or without a published count does not', () => {
    const two = [tick(3, 100), tick(4, 100)]
    expect(settlementValue(rules, two, 4 * hour, 4 * hour)).toMatchObject({ status: 'fixed', ticks: 2 })
    const weak = [tick(3, 100), tick(4, 100, 9), tick(4, 100, null)]
    expect(settlementValue(rules, weak, 4 * hour, 4 * hour)).toMatchObject({ status: 'wait', extensions: 1 })
    const anybody = { ...rules, agentsMin: 0 }
    expect(settlementValue(anybody, [tick(3, 1, null), tick(4, 1)], 4 * hour, 4 * hour).status).toBe('wait')
  })

  test('the last extension still decides, and after it the series is void', () => {
    const late = [tick(7, 120), tick(8, 140)]
    expect(settlementValue(rules, late, 4 * hour, 8 * hour)).toEqual({
      status: 'fixed',
      valueE4: 1_200_000n,
      fromMs: 4 * hour,
      toMs: 8 * hour,
      extensions: 1,
      ticks: 2,
    })
    expect(settlementValue(rules, [tick(8, 140)], 4 * hour, 8 * hour)).toEqual({
      status: 'void',
      reason: 'fewer than 2 ticks with 10 agents in each of 2 windows',
      extensions: 1,
    })
  })

  test('the median does not depend on the order, and of nothing there is none', () => {
    expect(lowerMedian([9n, 7n, 8n, 1n, 2n])).toBe(7n)
    expect(lowerMedian([1n, 9n, 2n, 8n, 7n, 3n])).toBe(3n)
    expect(lowerMedian([5n, 5n, 1n])).toBe(5n)
    expect(() => lowerMedian([])).toThrow(RangeError)
  })
})

describe('volatility', () => {
  const plain = { lambda: 0.5, floor: 0, highest: 1_000, markup: 1 }

  test('is the weighted mean of squared changes, the latest weighing most', () => {
    const values = [1, Math.E, Math.E, Math.E ** 3]
    const variance = 0.5 * (0.5 * 1 + 0.5 * 0) + 0.5 * 4
    expect(estimateVolatility(values, 9, plain)).toBe(Math.round(3 * Math.sqrt(variance) * 1e4) / 1e4)
  })

  test('values that are no values are passed over', () => {
    const expected = estimateVolatility([1, Math.E], 1, plain)
    for (const gap of [0, -1]) {
      expect(estimateVolatility([gap, 1, Math.E], 1, plain)).toBe(expected)
      expect(estimateVolatility([1, Math.E, gap], 1, plain)).toBe(expected)
    }
    expect(expected).toBe(1)
  })
})
