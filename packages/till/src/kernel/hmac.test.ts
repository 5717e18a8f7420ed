import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createHmacOf } from './hmac.ts'

it('gives what node:crypto gives, text after text', () => {
  const ascii = fc.string({ unit: 'binary-ascii', maxLength: 2_000 })
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.array(ascii, { maxLength: 5 }), (key, texts) => {
      const hmacOf = createHmacOf(key)
      for (const text of texts) expect(hmacOf(text)).toBe(createHmac('sha256', key).update(text).digest('base64url'))
    }),
  )
})

it('refuses a key that would have to be hashed first', () => {
  expect(() => createHmacOf(new Uint8Array(65))).toThrow('at most 64 bytes')
})
