import fc from 'fast-check'
import { expect, test } from 'vitest'
import { factorRules } from './method.ts'
import { percentiles } from './percentiles.ts'
import { scoreUniverse } from './score-universe.ts'

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

test('points add up to the score, a missing factor hands its weight on, and coverage says so', () => {
  fc.assert(
    fc.property(fc.array(fc.array(value, { minLength: 8, maxLength: 8 }), { minLength: 1, maxLength: 30 }), (rows) => {
      const factors = factorRules.map((rule, index) => ({
        rule,
        values: Float64Array.from(rows, (row) => row[index] as number),
      }))
      const scored = scoreUniverse({
        takesPart: new Uint8Array(rows.length).fill(1),
        factors,
        catalysts: new Float64Array(rows.length).fill(20),
      })
      rows.forEach((row, i) => {
        const weight = factorRules.reduce(
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

test('the weights are those of the method and make a hundred', () => {
  expect(factorRules.map(({ weight }) => weight)).toEqual([25, 20, 10, 10, 10, 10, 10, 5])
})
