import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bernoulliExp, sampleDiscreteLaplace, uniformBelow } from './discrete-laplace.ts'
import { seededRng } from './rng.fixture.ts'

test('uniform draws stay below any limit and reach all of a small one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 }), fc.bigInt({ min: 1n, max: 1n << 70n }), (seed, limit) => {
      const value = uniformBelow(seededRng(seed), limit)
      expect(value >= 0n && value < limit).toBe(true)
    }),
  )
  const rng = seededRng(7)
  const seen = new Map<bigint, number>()
  for (let i = 0; i < 6_000; i += 1) {
    const value = uniformBelow(rng, 6n)
    seen.set(value, (seen.get(value) ?? 0) + 1)
  }
  expect(seen.size).toBe(6)
  for (const count of seen.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150)
})

test.each([1, 8, 9, 31, 32, 33, 64])('all of the %i bits that a limit has are drawn', (bits) => {
  const limit = 1n << BigInt(bits)
  expect(uniformBelow({ bytes: (length) => new Uint8Array(length).fill(255) }, limit)).toBe(limit - 1n)
  expect(uniformBelow({ bytes: (length) => new Uint8Array(length) }, limit)).toBe(0n)
})

test.each([
  [1n, 3n],
  [1n, 1n],
  [5n, 2n],
  [0n, 4n],
])('a coin of exp(-%s/%s) falls as often as it should', (num, den) => {
  const rng = seededRng(11)
  const runs = 20_000
  let heads = 0
  for (let i = 0; i < runs; i += 1) if (bernoulliExp(rng, num, den)) heads += 1
  const expected = Math.exp(-Number(num) / Number(den))
  const tolerance = 5 * Math.sqrt((expected * (1 - expected)) / runs) + 1e-9
  expect(Math.abs(heads / runs - expected)).toBeLessThanOrEqual(tolerance)
})

test.each([
  { num: 1n, den: 1n },
  { num: 3n, den: 10n },
  { num: 7n, den: 3n },
])('noise of rate $num/$den has the probabilities of a discrete Laplace distribution', (rate) => {
  const rng = seededRng(23)
  const runs = 30_000
  const r = Number(rate.num) / Number(rate.den)
  const counts = new Map<number, number>()
  for (let i = 0; i < runs; i += 1) {
    const value = sampleDiscreteLaplace(rng, rate)
    counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  const norm = (1 - Math.exp(-r)) / (1 + Math.exp(-r))
  for (let x = -6; x <= 6; x += 1) {
    const expected = norm * Math.exp(-Math.abs(x) * r)
    const tolerance = 5 * Math.sqrt((expected * (1 - expected)) / runs) + 2 / runs
    expect(Math.abs((counts.get(x) ?? 0) / runs - expected)).toBeLessThanOrEqual(tolerance)
  }
})

test('a count and its neighbour can hardly be distinguished: no outcome is more than exp(rate) times as likely', () => {
  const rate = { num: 1n, den: 2n }
  const runs = 40_000
  const histogram = (count: number, seed: number) => {
    const rng = seededRng(seed)
    const seen = new Map<number, number>()
    for (let i = 0; i < runs; i += 1) {
      const value = count + sampleDiscreteLaplace(rng, rate)
      seen.set(value, (seen.get(value) ?? 0) + 1)
    }
    return seen
  }
  const [one, other] = [histogram(20, 31), histogram(21, 37)]
  for (let value = 16; value <= 25; value += 1) {
    const ratio = (one.get(value) ?? 0) / (other.get(value) ?? 1)
    expect(ratio).toBeGreaterThan(Math.exp(-0.5) * 0.88)
    expect(ratio).toBeLessThan(Math.exp(0.5) * 1.12)
  }
})

test('a rate that is not positive is refused', () => {
  for (const rate of [
    { num: 0n, den: 1n },
    { num: 1n, den: 0n },
    { num: -1n, den: 1n },
  ])
    expect(() => sampleDiscreteLaplace(seededRng(1), rate)).toThrow(RangeError)
})
