import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bestOf } from './best-of.ts'

test('the best so many are the first of all in order, the earlier of equal ones first', () => {
  const byValue = (a: { value: number }, b: { value: number }) => a.value - b.value
  fc.assert(
    fc.property(fc.array(fc.record({ value: fc.nat(9) })), fc.nat(12), (all, count) => {
      expect(bestOf(all, count, byValue)).toEqual([...all].sort(byValue).slice(0, count))
      bestOf(all, count, byValue).forEach((one, at) => {
        expect(one).toBe([...all].sort(byValue)[at])
      })
    }),
  )
})
