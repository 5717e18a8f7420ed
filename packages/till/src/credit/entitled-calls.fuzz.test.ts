import fc from 'fast-check'
import { expect, test } from 'vitest'
import { idempotencyKeyPattern, keyWithin } from './entitled-calls.ts'

test('no name that a caller can send is the stored name of somebody else', () => {
  const key = fc.string({ unit: fc.constantFrom(...'ab :_0'), minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(fc.constantFrom('mandate' as const, 'pass' as const), key, key, (scope, id, name) => {
      const stored = keyWithin(scope, id, name) as string
      expect(idempotencyKeyPattern.test(stored)).toBe(false)
      expect(stored.length).toBeLessThanOrEqual(128)
    }),
  )
})
