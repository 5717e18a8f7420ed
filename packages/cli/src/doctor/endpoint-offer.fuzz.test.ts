import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkOffer } from './endpoint-offer.ts'
import type { Seen } from './gather-endpoint.ts'

function seen(status: number, header: string | undefined, body = '{}'): Seen {
  return {
    url: 'https://shop.example/thing',
    method: 'GET',
    first: {
      status,
      headers: new Headers(header === undefined ? {} : { 'payment-required': header }),
      body: new TextEncoder().encode(body),
    },
    head: undefined,
    preflight: undefined,
    nonsense: undefined,
    variants: [],
    directory: undefined,
    documents: [],
    openapi: undefined,
    manifest: undefined,
  }
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
const offer = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '20000',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: '0x00000000000000000000000000000000000000F1',
  maxTimeoutSeconds: 60,
  extra: { name: 'USD Coin', version: '2' },
}
const required = (change: Record<string, unknown> = {}) =>
  encode({ x402Version: 2, resource: { url: 'https://shop.example/thing' }, accepts: [{ ...offer, ...change }] })

/** What is wrong with an offer whose one field was changed. */
const findings = (change: Record<string, unknown>) =>
  checkOffer(seen(402, required(change))).filter(({ status, name }) => status === 'fail' && name !== 'discovery')

test('any header and any body give findings, each with a way to fix it', () => {
  const anyHeader = fc.oneof(fc.base64String(), fc.jsonValue().map(encode), fc.constant(undefined))
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 599 }), anyHeader, fc.string(), (status, header, body) => {
      const checks = checkOffer(seen(status, header, body))
      expect(checks.length).toBeGreaterThan(0)
      for (const check of checks) if (check.status !== 'ok') expect(check.fix).toBeTruthy()
    }),
  )
})

test('a sound offer has no failures', () => {
  expect(findings({})).toEqual([])
})

test('unit mistakes, wrong domains, names and payees are found', () => {
  for (const [change, text] of [
    [{ amount: '0.02' }, 'atomic units'],
    [{ network: 'base' }, 'CAIP-2'],
    [{ payTo: '0x0000000000000000000000000000000000000000' }, 'payTo'],
    [{ maxTimeoutSeconds: 0 }, 'maxTimeoutSeconds'],
    [{ extra: { name: 'USDC', version: '2' } }, 'USDC'],
  ] as const)
    expect(findings(change)[0]?.detail, JSON.stringify(change)).toContain(text)
})

test('a version 1 seller, a missing header and an unpaid answer are distinguished', () => {
  expect(checkOffer(seen(402, undefined, '{"x402Version":1}')).at(-1)?.detail).toContain('version 1')
  expect(checkOffer(seen(402, undefined)).at(-1)?.detail).toContain('missing')
  expect(checkOffer(seen(200, undefined))[0]).toMatchObject({ name: '402', status: 'fail' })
})
