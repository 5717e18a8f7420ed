import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromBase64, fromBase64url, toBase64, toBase64url } from './base64.ts'

test('any bytes survive, written as Node writes them', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'))
      expect(toBase64url(bytes)).toBe(Buffer.from(bytes).toString('base64url'))
      expect(fromBase64(toBase64(bytes))).toEqual(bytes)
      expect(fromBase64url(toBase64url(bytes))).toEqual(bytes)
    }),
  )
})

test('nothing but the one spelling of some bytes is taken', () => {
  const text = fc.string({ unit: fc.constantFrom(...'AQgw0z9+/=-_ \n٣'), maxLength: 12 })
  fc.assert(
    fc.property(text, (given) => {
      const [plain, url] = [fromBase64(given), fromBase64url(given)]
      expect(plain === undefined || toBase64(plain) === given).toBe(true)
      expect(url === undefined || toBase64url(url) === given).toBe(true)
      const expected = Buffer.from(given, 'base64')
      expect(plain !== undefined).toBe(expected.toString('base64') === given)
    }),
    { numRuns: 2_000 },
  )
})
