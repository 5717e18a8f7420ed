import { anyText } from '@assay/protocol/any-text.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findQuote } from './find-quote.ts'
import { isBurst } from './wash.ts'

test('a quote is found wherever it is, whatever white space separates its words, and never elsewhere', () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/)
  fc.assert(
    fc.property(fc.array(word, { minLength: 3, maxLength: 30 }), fc.nat(), fc.nat(), (words, from, length) => {
      const start = from % words.length
      const quoted = words.slice(start, start + 1 + (length % 5))
      const found = findQuote(words.join(' \n\t'), quoted.join('\u00a0 '))
      expect(found.found).toBe(true)
      expect(words.join(' ').slice(found.offset ?? 0)).toMatch(new RegExp(`^${quoted.join(' ')}`))
      expect(findQuote(words.join(' '), `${quoted.join(' ')} 7`).found).toBe(false)
    }),
  )
  fc.assert(fc.property(anyText(), anyText(), (text, quote) => void findQuote(text, quote)))
})

test('a burst is many citations of one domain, not many citations', () => {
  expect(isBurst(Array(21).fill('a.com'))).toBe(true)
  expect(isBurst(Array(20).fill('a.com'))).toBe(false)
  expect(isBurst(Array.from({ length: 21 }, (_, n) => `${n % 4}.com`))).toBe(false)
})
