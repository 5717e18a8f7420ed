import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseLoopbackHosts } from '../packages/node/src/outbound/index.ts'
import { parseConfig } from '../packages/node/src/shop-list.ts'

const problemsOf = (env: Record<string, string>): string => {
  try {
    parseConfig(env)
    return ''
  } catch (error) {
    return String((error as Error).message)
  }
}

test('names are mapped to loopback in demo mode only, under .test only, and to loopback only', () => {
  expect(problemsOf({ DEMO_HOSTS: 'my.test=127.0.0.1:8080,other.test=127.0.0.1:8081' })).toBe('')
  expect(problemsOf({ ASSAY_MODE: 'production', DEMO_HOSTS: 'my.test=127.0.0.1:8080' })).toContain(
    'DEMO_HOSTS: is for demo mode',
  )
  for (const wrong of [
    'my.com=127.0.0.1:80',
    'my.test=10.0.0.1:80',
    'my.test=127.0.0.1',
    'my.test=127.0.0.1:0',
    'test=127.0.0.1:80',
    'My.test=127.0.0.1:80',
    'x',
  ])
    expect(problemsOf({ DEMO_HOSTS: wrong }), wrong).toContain('DEMO_HOSTS')
})

test('DNS is asked through two resolvers at least', () => {
  expect(problemsOf({ DNS_SERVERS: '1.1.1.1,9.9.9.9' })).toBe('')
  for (const wrong of ['1.1.1.1', '1.1.1.1,1.1.1.1', '1.1.1.1,dns.example.org', ','])
    expect(problemsOf({ DNS_SERVERS: wrong }), wrong).toContain('DNS_SERVERS')
})

test('whatever is written there, nothing but a loopback port of a name under .test comes out', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom('a.test', '=', '127.0.0.1', ':', '80', ',', '127.0.0.999', '0.0.0.0'),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      for (const [name, { address, port }] of parseLoopbackHosts(pieces.join('')).hosts) {
        expect(name).toMatch(/\.test$/)
        expect(address).toMatch(/^127\.0\.0\.\d{1,3}$/)
        expect(port).toBeGreaterThan(0)
        expect(port).toBeLessThan(65_536)
      }
    }),
  )
})
