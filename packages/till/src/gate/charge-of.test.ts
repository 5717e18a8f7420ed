import { expect, test } from 'vitest'
import { chargeOf } from './work-on-claim.ts'

const quoted = 20_000n

test('a metered scheme charges what was used, zero included; another one what was quoted', () => {
  for (const used of [0n, 500n, quoted]) {
    expect(chargeOf({ chargesLess: true }, quoted, used)).toBe(used)
    expect(chargeOf({ chargesLess: false }, quoted, used)).toBe(quoted)
  }
  expect(chargeOf({ chargesLess: true }, quoted)).toBe(quoted)
})

test.each([quoted + 1n, -1n])('a charge of %s does not fit the quote, whatever the scheme', (wanted) => {
  for (const scheme of [{ chargesLess: true }, { chargesLess: false }])
    expect(() => chargeOf(scheme, quoted, wanted)).toThrow('does not fit a quote')
})
