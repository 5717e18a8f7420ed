import { anyText } from '@assay/protocol/any-text.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toJson } from './output.ts'
import { printable } from './printable.ts'

test('a seller cannot repaint the price with an escape sequence, nor turn an address around', () => {
  const esc = String.fromCharCode(27)
  expect(printable(`0.02 USDC${esc}[2K\rfree`)).toBe('0.02 USDC\\u001b[2K\\u000dfree')
  expect(printable(`to ${String.fromCharCode(0x202e)}0x12`)).toBe('to \\u202e0x12')
  expect(printable('two\nlines\tand a täble')).toBe('two\nlines\tand a täble')
})

test('JSON says the same as before', () => {
  const text = anyText()
  fc.assert(
    fc.property(fc.dictionary(text, text), (value) => {
      expect(JSON.parse(printable(toJson(value)))).toEqual(JSON.parse(toJson(value)))
    }),
  )
})
