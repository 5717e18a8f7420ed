import fc from 'fast-check'
import { expect, test } from 'vitest'
import { averagePrecision, calibration, liftInterval, measure, type Observation } from './metrics.ts'

const observation = fc.record({ day: fc.constant(1), prediction: fc.integer({ min: 0, max: 100 }), hit: fc.boolean() })

test('taking everybody has the precision of the base rate, and no figure leaves its range', () => {
  fc.assert(
    fc.property(fc.array(observation, { minLength: 1, maxLength: 60 }), (day) => {
      const { base_rate, precision, lift, pr_auc, hits } = measure([day], [1, day.length])
      expect(precision[`at_${day.length}`]).toBe(base_rate)
      if (hits > 0) expect(lift[`at_${day.length}`]).toBe(1)
      for (const value of [base_rate, pr_auc, ...Object.values(precision)])
        if (value !== null) expect(value).toSatisfy((v: number) => v >= 0 && v <= 1)
      expect(calibration(day).reduce((sum, bin) => sum + bin.observations, 0)).toBe(day.length)
    }),
  )
})

test('a perfect ranking has an average precision of one', () => {
  const perfect: Observation[] = [9, 8, 3, 2].map((prediction, index) => ({ day: 0, prediction, hit: index < 2 }))
  expect(averagePrecision(perfect)).toBe(1)
})

test('one block of days gives no interval: that would be made up', () => {
  const day: Observation[] = [{ day: 0, prediction: 1, hit: true }]
  expect(liftInterval([day, day], 1, 10)).toEqual({ low: null, high: null, blocks: 1 })
})

test('drawing blocks of equal days gives the lift itself', () => {
  fc.assert(
    fc.property(fc.array(observation, { minLength: 30, maxLength: 60 }), (day) => {
      const { lift } = measure([day], [5])
      const same = liftInterval([day, day, day, day], 5, 2)
      expect([same.low, same.high]).toEqual([lift.at_5, lift.at_5])
    }),
    { numRuns: 40 },
  )
})
