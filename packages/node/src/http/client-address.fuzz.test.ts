import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clientAddress, limitKey } from './client-address.ts'

test('callers: an IPv6 household shares one limit, forwarded addresses count only from trusted proxies', () => {
  expect(limitKey('2001:db8:1:2:3:4:5:6')).toBe(limitKey('2001:0db8:0001:0002::9'))
  expect(limitKey('2001:db8:1:2::1')).not.toBe(limitKey('2001:db8:1:3::1'))
  expect(limitKey('::1')).toBe('0:0:0:0::/64')
  expect(clientAddress('::ffff:10.0.0.1', '1.2.3.4', 0)).toBe('10.0.0.1')
  expect(clientAddress('10.0.0.1', '6.6.6.6, 1.2.3.4', 1)).toBe('1.2.3.4')
  expect(clientAddress('10.0.0.1', 'evil', 1)).toBe('10.0.0.1')
  fc.assert(fc.property(fc.ipV6(), (address) => limitKey(address).endsWith('::/64')))
})
