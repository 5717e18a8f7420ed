import fc from 'fast-check'
import { expect, test } from 'vitest'
import { paymentHeaderBytesMax } from '../decode-header.ts'
import { decodePayment } from './decode-exact.fixture.ts'

const address = '0x1111111111111111111111111111111111111111'
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')

function payload(change: Record<string, unknown> = {}) {
  return {
    x402Version: 2,
    resource: { url: 'http://node.test/v1/sandbox/echo' },
    accepted: {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: '1000',
      asset: address,
      payTo: address,
      maxTimeoutSeconds: 60,
    },
    payload: {
      signature: `0x${'ab'.repeat(65)}`,
      authorization: {
        from: address,
        to: address,
        value: '1000',
        validAfter: '0',
        validBefore: '2000000000',
        nonce: `0x${'01'.repeat(32)}`,
      },
    },
    extensions: { 'payment-identifier': { info: { id: 'a'.repeat(16) } } },
    ...change,
  }
}

test('a well-formed payload is read', () => {
  const outcome = decodePayment(encode(payload()))
  expect(outcome).toMatchObject({
    status: 'ok',
    payment: { envelope: { identifier: 'a'.repeat(16) }, signed: { authorization: { value: 1000n } } },
  })
})

test('any text gives a result, never a crash', () => {
  fc.assert(fc.property(fc.string(), (raw) => decodePayment(raw).status !== undefined))
  fc.assert(fc.property(fc.json(), (json) => decodePayment(Buffer.from(json).toString('base64')).status !== undefined))
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('accepted', 'payload', 'extensions', 'resource', 'x402Version'), fc.jsonValue()),
      (change) => {
        return decodePayment(encode(payload(change))).status !== undefined
      },
    ),
  )
})

test('a header that is accepted is the only spelling of its bytes', () => {
  const spelling = fc
    .tuple(fc.oneof(fc.nat(), fc.nat({ max: 4 })), fc.constantFrom('', '=', 'A', ' ', '\n', '-', '_', '\u00e4'))
    .map(([at, put]) => (header: string) => {
      const place = header.length - (at % header.length)
      return header.slice(0, place) + put + header.slice(place + (at % 2))
    })
  fc.assert(
    fc.property(fc.string({ maxLength: 8 }), fc.array(spelling, { maxLength: 3 }), (note, changes) => {
      const header = encode(payload({ note }))
      const changed = changes.reduce((text, change) => change(text), header)
      if (decodePayment(changed).status !== 'malformed')
        expect(Buffer.from(changed, 'base64').toString('base64')).toBe(changed)
    }),
  )
})

test('A32: an oversized header and a bomb of brackets are refused without being parsed', () => {
  expect(decodePayment('A'.repeat(paymentHeaderBytesMax + 4)).status).toBe('malformed')
  expect(decodePayment(Buffer.from('['.repeat(9_000)).toString('base64'))).toMatchObject({
    status: 'malformed',
    detail: 'is nested deeper than 24',
  })
})

test('A33: reserved property names are refused and pollute nothing', () => {
  for (const text of [
    '{"__proto__":{"polluted":1},"x402Version":2}',
    '{"constructor":{"prototype":{"polluted":1}},"x402Version":2}',
  ])
    expect(decodePayment(Buffer.from(text).toString('base64')).status).toBe('malformed')
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

test('A16: decimals and signs are no atomic amounts', () => {
  for (const amount of ['0.01', '-1', '1e3', ' 1', '0x10', 1000])
    expect(decodePayment(encode(payload({ accepted: { ...payload().accepted, amount } }))).status).toBe('malformed')
})

test('a version 1 payload is recognized', () => {
  expect(decodePayment(encode({ x402Version: 1, scheme: 'exact', network: 'base', payload: {} })).status).toBe(
    'version_1',
  )
})
