import fc from 'fast-check'
import { expect, test } from 'vitest'
import { send, testApp } from './http-app.fixture.ts'

const segment = fc.oneof(
  fc.constantFrom('v1', 'report', 'order', 'thing', '1', '..', '.', '', '%2f', '%72eport', 'REPORT', ';x', '%00', '%'),
  fc.string({ maxLength: 8 }),
)
const target = fc.oneof(
  fc.array(segment, { maxLength: 6 }).map((segments) => `/${segments.join('/')}`),
  fc.tuple(fc.constant('/v1/report/1?'), fc.string({ maxLength: 30 })).map((parts) => parts.join('')),
  fc.string({ maxLength: 40 }),
)
const headerName = fc.constantFrom(
  'Accept',
  'Content-Type',
  'X-HTTP-Method-Override',
  'X-Original-URL',
  'X-Rewrite-URL',
  'X-Forwarded-Host',
  'X-Affiliate-ID',
  'X-Request-Id',
  'Range',
  'Authorization',
  'PAYMENT-SIGNATURE',
  'X-PAYMENT',
  'Content-Encoding',
  'Expect',
)
const headers = fc.dictionary(headerName, fc.string({ maxLength: 30 }), { maxKeys: 5 })
const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'get', '')

test('any method, target and headers: a signed answer, no crash, no paid handler without payment', async () => {
  const app = testApp()
  await fc.assert(
    fc.asyncProperty(method, target, headers, fc.string({ maxLength: 40 }), async (verb, path, given, body) => {
      const seen = await send(app, { method: verb, target: path, headers: given, body })
      expect(seen.headers.has('signature')).toBe(true)
      expect([200, 204, 400, 402, 404, 405, 406, 413, 414, 415, 421]).toContain(seen.status)
      for (const [name, value] of seen.headers) expect(`${name}${value}`).toMatch(/^[\t\x20-\x7e]*$/)
    }),
    { numRuns: 1_000 },
  )
  expect(app.gate.prepared).toBe(0)
})
