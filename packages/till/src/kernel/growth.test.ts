import { expect, test } from 'vitest'
import { growthOf, linearAtMost } from './growth.fixture.ts'

const count = (text: string) => {
  let found = 0
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) === 97) found += 1
  return found
}

test('linear work is distinguished from quadratic work by its growth alone', () => {
  const linear = (size: number) => {
    const text = 'ab'.repeat(size / 2)
    return () => count(text)
  }
  const quadratic = (size: number) => {
    const text = 'ab'.repeat(size / 2)
    return () => {
      for (let from = 0; from < text.length; from += 1) count(text.slice(from))
    }
  }
  expect(growthOf(linear, 10_000)).toBeLessThan(linearAtMost)
  expect(growthOf(quadratic, 100)).toBeGreaterThan(linearAtMost)
})

test('a regular expression that backtracks is found', () => {
  const trailing = (size: number) => {
    const text = `${' '.repeat(size)}x`
    return () => /\s+$/.test(text)
  }
  expect(growthOf(trailing, 200)).toBeGreaterThan(linearAtMost)
})
