import { expect, test } from 'vitest'
import { withDemoExamples } from './demo-examples.ts'

const text = '/v1/check/0xb200000000000000000000aaaaaaaaaaaaaaaaaa/diff?from=53600000 https://example.com/about'

test('examples of a demo node name what it has; elsewhere they stay as they are', () => {
  const demo = { tokens: [{ address: '0xB2' }], accounts: [], sources: [] }
  expect(withDemoExamples(text, demo)).toBe('/v1/check/0xB2/diff?from=1 https://example.com/about')
  expect(withDemoExamples(text, undefined)).toBe(text)
})
