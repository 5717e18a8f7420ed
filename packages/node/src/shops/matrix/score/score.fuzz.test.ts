import fc from 'fast-check'
import { expect, test } from 'vitest'
import { currentMethod, scoreMethods } from './method.ts'
import { halvings, percentiles } from './percentiles.ts'
import { scoreUniverse } from './score-universe.ts'

const first = scoreMethods['assay-squeeze-1']

const value = fc.oneof(fc.integer({ min: -50, max: 50 }), fc.constant(Number.NaN))

test('percentiles keep the order, share ties, stay within 0..100 and ignore who takes no part', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(value, fc.boolean()), { maxLength: 60 }), (rows) => {
      const values = Float64Array.from(rows, ([number]) => number)
      const part = Uint8Array.from(rows, ([, takes]) => Number(takes))
      const ranks = percentiles(values, part)
      rows.forEach(([a, takesA], i) => {
        expect(Number.isNaN(ranks[i] as number)).toBe(!takesA || Number.isNaN(a))
        if (!Number.isNaN(ranks[i] as number)) expect(ranks[i]).toSatisfy((rank: number) => rank >= 0 && rank <= 100)
        rows.forEach(([b, takesB], j) => {
          if (!takesA || !takesB || Number.isNaN(a) || Number.isNaN(b)) return
          if (a < b) expect(ranks[i] as number).toBeLessThan(ranks[j] as number)
          if (a === b) expect(ranks[i]).toBe(ranks[j])
        })
      })
    }),
    { numRuns: 60 },
  )
})

test('version 1: points add up to the score, a missing factor hands its weight on, and coverage says so', () => {
  fc.assert(
    fc.property(fc.array(fc.array(value, { minLength: 8, maxLength: 8 }), { minLength: 1, maxLength: 30 }), (rows) => {
      const factors = first.factors.map((rule, index) => ({
        rule,
        values: Float64Array.from(rows, (row) => row[index] as number),
      }))
      const scored = scoreUniverse({
        method: first,
        included: new Uint8Array(rows.length).fill(1),
        factors,
        catalysts: new Float64Array(rows.length).fill(20),
      })
      rows.forEach((row, i) => {
        const weight = first.factors.reduce(
          (sum, rule, index) => (Number.isNaN(row[index] as number) ? sum : sum + rule.weight),
          0,
        )
        expect(scored.coverage[i]).toBe(weight)
        const ranked = weight >= 50
        expect(Number.isNaN(scored.score[i] as number)).toBe(!ranked)
        if (!ranked) return
        const points = scored.points.reduce(
          (sum, column) => sum + (Number.isNaN(column[i] as number) ? 0 : (column[i] as number)),
          0,
        )
        expect(scored.score[i] as number).toBeCloseTo(Math.min(100, points + 15), 6)
      })
    }),
    { numRuns: 60 },
  )
})

test('the weights of version 1 are those published under its name', () => {
  expect(first.factors.map(({ weight }) => weight)).toEqual([25, 20, 10, 10, 10, 10, 10, 5])
})

test('halvings: the first of 4,096 has 12 points, the 64th has 6, the last none', () => {
  const values = Float64Array.from({ length: 4096 }, (_, index) => index)
  const points = halvings(percentiles(values, new Uint8Array(4096).fill(1)))
  expect([points[4095], points[4096 - 64], points[0]]).toEqual([12, 6, 0])
})

test('version 2: the score is the percentile of the strength, ranked by the uncut strength, whatever the catalysts', () => {
  const row = fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 4, maxLength: 4 })
  fc.assert(
    fc.property(fc.array(row, { minLength: 2, maxLength: 40 }), (rows) => {
      const included = new Uint8Array(rows.length).fill(1)
      const factors = currentMethod.factors.map((rule, index) => ({
        rule,
        values: Float64Array.from(rows, (values) => values[index] as number),
      }))
      const score = (catalysts: number) =>
        scoreUniverse({
          method: currentMethod,
          included,
          factors,
          catalysts: new Float64Array(rows.length).fill(catalysts),
        })
      const { strength, score: shown, ranking, points } = score(0)
      expect(score(15).ranking).toEqual(ranking)
      expect(shown).toEqual(percentiles(strength, included))
      for (let at = 1; at < ranking.length; at += 1) {
        const [above, below] = [ranking[at - 1] as number, ranking[at] as number]
        expect(strength[above]).toBeGreaterThanOrEqual(strength[below] as number)
        if (strength[above] !== strength[below]) expect(shown[above]).toBeGreaterThan(shown[below] as number)
      }
      for (let i = 0; i < rows.length; i += 1)
        expect(points.reduce((sum, column) => sum + (column[i] as number), 0)).toBeCloseTo(strength[i] as number, 9)
    }),
    { numRuns: 60 },
  )
})

test('version 2 by hand: second of four by short interest, first by fails, third by price, no fee known', () => {
  const values = {
    short_interest_to_shares: [3, 9, 1, 2],
    fails_mean_to_shares: [8, 1, 2, 3],
    price_vs_vwap: [2, 9, 3, 1],
  }
  const factors = currentMethod.factors.flatMap((rule) => {
    const column = values[rule.name as keyof typeof values]
    return column ? [{ rule, values: Float64Array.from(column) }] : []
  })
  const { strength, score, coverage } = scoreUniverse({
    method: currentMethod,
    included: new Uint8Array(4).fill(1),
    factors,
    catalysts: new Float64Array(4),
  })
  expect(strength[0]).toBeCloseTo((Math.log2(4 / 2) + Math.log2(4 / 1) + Math.log2(4 / 3)) / 3, 12)
  expect(coverage[0]).toBe(75)
  expect(score[0]).toBeCloseTo(200 / 3, 9)
})

test('version 2: without a short interest nobody is ranked, and another unknown factor counts as the middle place', () => {
  const columns = [
    [1, 2, 3, 4, Number.NaN],
    [9, 2, 3, 4, 99],
    [1, 2, 3, 4, 99],
    [1, 2, Number.NaN, 4, 99],
  ]
  const factors = currentMethod.factors.map((rule, index) => ({
    rule,
    values: Float64Array.from(columns[index] ?? []),
  }))
  const { ranking, strength, points, coverage } = scoreUniverse({
    method: currentMethod,
    included: new Uint8Array(5).fill(1),
    factors,
    catalysts: new Float64Array(5),
  })
  expect([...ranking]).not.toContain(4)
  expect(coverage[2]).toBe(75)
  const known = points.slice(0, 3).reduce((sum, column) => sum + (column[2] as number), 0)
  expect(strength[2]).toBeCloseTo(known + 1 / 4, 12)
})

test('version 2: a factor that nobody of a universe has is left out, so that funds are ranked without shares outstanding', () => {
  const unknown = [Number.NaN, Number.NaN, Number.NaN]
  const columns = [unknown, unknown, [3, 2, 1], [1, 2, 3]]
  const { ranking, strength } = scoreUniverse({
    method: currentMethod,
    included: new Uint8Array(3).fill(1),
    factors: currentMethod.factors.map((rule, index) => ({ rule, values: Float64Array.from(columns[index] ?? []) })),
    catalysts: new Float64Array(3),
  })
  expect(ranking).toHaveLength(3)
  expect(strength[0]).toBeCloseTo((Math.log2(3) + Math.log2(1)) / 2, 12)
})
