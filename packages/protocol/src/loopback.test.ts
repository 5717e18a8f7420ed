import { expect, test } from 'vitest'
import { isLoopbackHost, isLoopbackIp, isLoopbackUrl } from './loopback.ts'

test('addresses of this machine, and no others that resemble them', () => {
  for (const address of ['127.0.0.1', '127.255.3.20', '::1']) expect(isLoopbackIp(address), address).toBe(true)
  for (const address of ['128.0.0.1', '127.0.0', '127.0.0.1.1', '1127.0.0.1', '::11', '[::1]', 'localhost', ''])
    expect(isLoopbackIp(address), address).toBe(false)
})

test('only hosts whose name says so count as this machine', () => {
  for (const host of ['localhost', '127.0.0.1', '[::1]']) expect(isLoopbackHost(host), host).toBe(true)
  for (const host of ['localhost.example', '127.0.0.2', '::1', '']) expect(isLoopbackHost(host), host).toBe(false)
  expect(isLoopbackUrl('http://localhost:4020/path')).toBe(true)
  for (const url of ['https://seller.test/localhost', 'http://localhost@seller.test', 'localhost:4020', 'no address'])
    expect(isLoopbackUrl(url), url).toBe(false)
})
