import { anyText } from '@assay/protocol/any-text.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { normalText } from '../sources/page/index.ts'
import { makeSnippet } from './make-snippet.ts'

const word = fc.constantFrom(
  'bread',
  'rises.',
  'slowly',
  'No!',
  'why?',
  '。',
  '😀'.repeat(90),
  'x'.repeat(150),
  'y'.repeat(700),
)
const text = fc.oneof(
  anyText(),
  fc.array(word, { maxLength: 60 }).map((words) => words.join(' ')),
)

/** No half of a pair. */
const isWhole = (value: string) => Buffer.from(value).toString() === value

test('a snippet is a quote of the normal text at its position, and no longer than it may be', () => {
  fc.assert(
    fc.property(text, (page) => {
      const { text: quote, start, end } = makeSnippet(page, new Set(['bread', 'slowli']))
      expect(normalText(page).slice(start, end)).toBe(quote)
      expect(quote.length).toBeLessThanOrEqual(320)
      expect(isWhole(quote) || !isWhole(page)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('the passage that answers is found in a text without ends of sentences', () => {
  const page = `${'water and flour '.repeat(60)}sourdough bread rises slowly ${'water and flour '.repeat(60)}`
  expect(makeSnippet(page, new Set(['sourdough', 'rise'])).text).toContain('sourdough bread rises')
})
