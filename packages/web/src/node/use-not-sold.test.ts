import { expect, test } from 'vitest'
import { shortReason } from './use-not-sold.ts'

test('a buyer reads why something is not sold, without what only the operator can use', () => {
  expect(shortReason('None of the feeds is for sale now; GET /matrix says why for each. LICENCES has no line.')).toBe(
    'None of the feeds is for sale now',
  )
  expect(shortReason('The error is above 2.5 %.')).toBe('The error is above 2.5 %')
  expect(shortReason(undefined)).toBeUndefined()
})
