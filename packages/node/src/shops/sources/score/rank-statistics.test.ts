import fc from 'fast-check'
import { expect, test } from 'vitest'
import { halfOf, parseLabels } from './evaluate-scores.ts'
import { areaUnderCurve, ranksOf, spearman } from './rank-statistics.ts'

test('Spearman and AUC agree with values worked out by hand', () => {
  expect(ranksOf([10, 20, 20, 30])).toEqual([1, 2.5, 2.5, 4])
  expect(spearman([1, 2, 3, 4, 5], [5, 6, 7, 8, 7])).toBeCloseTo(0.8208, 4)
  expect(spearman([1, 2, 3], [3, 2, 1])).toBe(-1)
  expect(spearman([1, 1], [1, 2])).toBeNull()
  expect(areaUnderCurve([0.1, 0.4, 0.35, 0.8], [false, false, true, true])).toBe(0.75)
  expect(areaUnderCurve([1, 1], [true, false])).toBe(0.5)
  expect(areaUnderCurve([1], [true])).toBeNull()
})

test('both stay within their bounds and do not depend on the scale', () => {
  const pairs = fc.array(fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100 })), { minLength: 2 })
  fc.assert(
    fc.property(pairs, (list) => {
      const [one, other] = [list.map(([a]) => a), list.map(([, b]) => b)]
      const rho = spearman(one, other)
      if (rho !== null) {
        expect(Math.abs(rho)).toBeLessThanOrEqual(1 + 1e-9)
        expect(
          spearman(
            one.map((value) => value * 3 + 7),
            other,
          ),
        ).toBeCloseTo(rho, 9)
      }
      const auc = areaUnderCurve(
        one,
        other.map((value) => value > 50),
      )
      if (auc !== null) expect(auc >= 0 && auc <= 1).toBe(true)
    }),
  )
})

test('labels are read with or without a heading, and one site never falls on both halves', () => {
  expect(parseLabels('domain,rating\nexample.com,4.5\n"BBC.co.uk",3\nnot a domain,1\nx.org,\n')).toEqual({
    labels: [
      { domain: 'example.com', rating: 4.5 },
      { domain: 'bbc.co.uk', rating: 3 },
    ],
    malformed: 2,
  })
  expect(halfOf('a.example.com')).toBe(halfOf('b.example.com'))
})
