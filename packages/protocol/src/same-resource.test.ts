import { expect, test } from 'vitest'
import { isSameResource } from './same-resource.ts'

const asked = 'https://seller.test/weather?city=rome&days=2'

test('the order of a query and who brought the buyer are no part of what is bought', () => {
  expect(isSameResource(asked, 'https://seller.test/weather?days=2&city=rome')).toBe(true)
  expect(isSameResource(`${asked}&ref=0xa&aff=0xb`, asked)).toBe(true)
})

test('another value, another path, another host and one parameter more are another thing to buy', () => {
  for (const other of [
    'https://seller.test/weather?city=oslo&days=2',
    'https://seller.test/weather?city=rome&days=2&days=2',
    'https://seller.test/weather?city=rome',
    'https://seller.test/weather/?city=rome&days=2',
    'https://other.test/weather?city=rome&days=2',
    'http://seller.test/weather?city=rome&days=2',
    // One parameter whose value only looks like two.
    'https://seller.test/weather?city=rome%26days%3D2',
  ])
    expect(isSameResource(asked, other), other).toBe(false)
})
