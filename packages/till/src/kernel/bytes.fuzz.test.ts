import { fromBase64 as inProtocol } from '@assay/protocol/base64'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromBase64 } from './bytes.ts'

test('base64 is read as the protocol reads it', () => {
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'AQgw0z9+/=-_ \n٣'), maxLength: 12 }),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  )
  fc.assert(
    fc.property(text, (given) => {
      const expected = inProtocol(given)
      const bytes = fromBase64(given)
      expect(bytes && Buffer.compare(bytes, expected ?? Buffer.from('not taken'))).toBe(expected && 0)
    }),
    { numRuns: 2_000 },
  )
})
