import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBase64 } from './base64.ts'

test('any bytes survive, and nothing but their one spelling is taken', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 60 }), (bytes) => {
      expect(decodeBase64(Buffer.from(bytes).toString('base64'))).toEqual(Buffer.from(bytes))
    }),
  )
  const text = fc.string({ unit: fc.constantFrom(...'AQgw0z9+/=-_ \n'), maxLength: 12 })
  fc.assert(
    fc.property(text, (given) => {
      const bytes = decodeBase64(given)
      return bytes === undefined || (bytes.length > 0 && bytes.toString('base64') === given)
    }),
  )
})
