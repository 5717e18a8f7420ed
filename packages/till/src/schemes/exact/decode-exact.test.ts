import { describe, expect, test } from 'vitest'
import { decodeHeader, paymentHeaderBytesMax } from '../decode-header.ts'
import { decodePayment } from './decode-exact.fixture.ts'

const address = `0x${'Ab'.repeat(20)}`
const nonce = `0x${'0C'.repeat(32)}`
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')

type Parts = Record<string, unknown>
const accepted = { scheme: 'exact', network: 'eip155:8453', amount: '1000', asset: address, payTo: address }
const authorization = { from: address, to: address, value: '1000', validAfter: '0', validBefore: '20', nonce }
const payload = { signature: `0x${'AB'.repeat(65)}`, authorization }
const read = (changes: Parts = {}) => decodePayment(encode({ x402Version: 2, accepted, payload, ...changes }))
const detailOf = (changes: Parts) => {
  const outcome = read(changes)
  return outcome.status === 'malformed' ? outcome.detail : outcome.status
}

test('everything is read, in lower case', () => {
  const salt = `0x${'0D'.repeat(32)}`
  const outcome = read({
    resource: { url: 'https://a.example/' },
    extensions: {
      'payment-identifier': { info: { id: 'i'.repeat(128) } },
      'request-binding': { info: { salt } },
      'offer-receipt': { info: { offers: [{ signature: 'one' }, {}, 7, { signature: 8 }, { signature: 'two' }] } },
    },
  })
  const lower = address.toLowerCase()
  const signed = {
    authorization: {
      from: lower,
      to: lower,
      value: 1_000n,
      validAfter: 0n,
      validBefore: 20n,
      nonce: nonce.toLowerCase(),
    },
    signature: payload.signature.toLowerCase(),
  }
  expect(outcome).toEqual({
    status: 'ok',
    payment: {
      envelope: {
        scheme: 'exact',
        network: 'eip155:8453',
        amount: '1000',
        asset: lower,
        payTo: lower,
        resourceUrl: 'https://a.example/',
        payload,
        identifier: 'i'.repeat(128),
        bindingSalt: salt.toLowerCase(),
        offers: ['one', 'two'],
      },
      network: 'eip155:8453',
      payer: lower,
      paymentKey: nonce.toLowerCase(),
      payTo: lower,
      validBefore: 20n,
      signed,
    },
  })
})

test('what a client may leave out is undefined', () => {
  expect(read({ accepted: { ...accepted, asset: 'x', payTo: undefined } })).toMatchObject({
    payment: {
      envelope: {
        asset: undefined,
        payTo: undefined,
        resourceUrl: undefined,
        identifier: undefined,
        bindingSalt: undefined,
        offers: [],
      },
    },
  })
  expect(read({ resource: 'https://a.example/' })).toMatchObject({
    payment: { envelope: { resourceUrl: 'https://a.example/' } },
  })
})

test('of many offers eight are looked at, and none that is very long', () => {
  const offers = (signatures: string[]) => {
    const outcome = read({
      extensions: { 'offer-receipt': { info: { offers: signatures.map((signature) => ({ signature })) } } },
    })
    return outcome.status === 'ok' ? outcome.payment.envelope.offers : outcome.status
  }
  expect(offers(Array.from({ length: 10 }, (_, n) => `o${n}`))).toEqual([
    'o0',
    'o1',
    'o2',
    'o3',
    'o4',
    'o5',
    'o6',
    'o7',
  ])
  expect(offers(['x'.repeat(4_096), 'y'.repeat(4_095)])).toEqual(['y'.repeat(4_095)])
  expect(read({ extensions: { 'offer-receipt': { info: { offers: 'x' } } } })).toMatchObject({
    payment: { envelope: { offers: [] } },
  })
})

describe('refused by name', () => {
  test.each<[string, Parts]>([
    ['x402Version must be 2', { x402Version: 3 }],
    ['x402Version must be 2', { x402Version: '2' }],
    ['`accepted` is missing', { accepted: [] }],
    ['`accepted` is missing', { accepted: null }],
    ['`accepted` needs scheme and network', { accepted: { ...accepted, scheme: 7 } }],
    ['`accepted` needs scheme and network', { accepted: { ...accepted, network: 7 } }],
    ['`accepted.amount` must be an integer in atomic units', { accepted: { ...accepted, amount: '01' } }],
    ['`accepted.amount` must be an integer in atomic units', { accepted: { ...accepted, amount: '1x' } }],
    ['`accepted.amount` must be an integer in atomic units', { accepted: { ...accepted, amount: 'x1' } }],
    ['`resource.url` must be text', { resource: { url: 7 } }],
    ['`resource.url` must be text', { resource: 7 }],
    ['`payload` is missing', { payload: 'x' }],
    ['`payload.authorization` is missing', { payload: { ...payload, authorization: null } }],
    [
      '`payload.authorization` needs addresses in from and to',
      { payload: { ...payload, authorization: { ...authorization, from: 'x' } } },
    ],
    [
      '`payload.authorization` needs addresses in from and to',
      { payload: { ...payload, authorization: { ...authorization, to: 'x' } } },
    ],
    ...['value', 'validAfter', 'validBefore'].flatMap((name): [string, Parts][] =>
      [7, '-1', (2n ** 256n).toString(), '1'.repeat(79)].map((bad) => [
        '`payload.authorization` needs value, validAfter and validBefore as decimal text',
        { payload: { ...payload, authorization: { ...authorization, [name]: bad } } },
      ]),
    ),
    [
      '`payload.authorization.nonce` must be 32 bytes of hex',
      { payload: { ...payload, authorization: { ...authorization, nonce: '0x00' } } },
    ],
    ['`payload.signature` is not hex of a sensible length', { payload: { ...payload, signature: '0x' } }],
    ['`payload.signature` is not hex of a sensible length', { payload: { ...payload, signature: 'x' } }],
    [
      '`payload.signature` is not hex of a sensible length',
      { payload: { ...payload, signature: `0x${'00'.repeat(4_097)}` } },
    ],
    [
      'payment-identifier id must be 16 to 128 of A-Z a-z 0-9 _ -',
      { extensions: { 'payment-identifier': { info: { id: 'i'.repeat(15) } } } },
    ],
    [
      'payment-identifier id must be 16 to 128 of A-Z a-z 0-9 _ -',
      { extensions: { 'payment-identifier': { info: { id: 7 } } } },
    ],
    ['request-binding salt must be 32 bytes of hex', { extensions: { 'request-binding': { info: { salt: '0x00' } } } }],
  ])('%s', (detail, changes) => {
    expect(detailOf(changes)).toBe(detail)
  })

  test('what is no JSON object in canonical base64', () => {
    const of = (text: string) => decodePayment(Buffer.from(text).toString('base64'))
    expect(of('{')).toMatchObject({ detail: 'is not valid JSON' })
    expect(of('[1]')).toMatchObject({ detail: 'not a JSON object' })
    expect(of('null')).toMatchObject({ detail: 'not a JSON object' })
    expect(of('{"x402Version":2,"x402Version":2}')).toMatchObject({ detail: 'has the key "x402Version" twice' })
    const good = encode({ x402Version: 2 })
    for (const bad of ['', ' ', `${good}!`, `!${good}`, '===='])
      expect(decodePayment(bad)).toMatchObject({ detail: 'not canonical base64' })
    expect(decodePayment('A'.repeat(paymentHeaderBytesMax))).toMatchObject({ detail: 'is not valid JSON' })
    expect(decodePayment('A'.repeat(paymentHeaderBytesMax + 1))).toMatchObject({ detail: 'longer than 12288 bytes' })
  })

  test('24 levels are read and 25 are not', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    const of = (text: string) => decodePayment(Buffer.from(text).toString('base64'))
    expect(of(nested(24))).toMatchObject({ detail: 'not a JSON object' })
    expect(of(nested(25))).toMatchObject({ detail: 'is nested deeper than 24' })
  })
})

test('the largest uint256 and the longest signature are read', () => {
  const value = (2n ** 256n - 1n).toString()
  expect(
    read({ payload: { signature: `0x${'00'.repeat(4_096)}`, authorization: { ...authorization, value } } }),
  ).toMatchObject({
    payment: { signed: { authorization: { value: 2n ** 256n - 1n } } },
  })
  expect(read({ payload: { ...payload, signature: '0x00' } }).status).toBe('ok')
})

test('Permit2 is another method, and recognized', () => {
  expect(read({ payload: { ...payload, permit2Authorization: {} } })).toMatchObject({
    status: 'unsupported',
    reason: 'unsupported_asset_transfer_method',
  })
})

test('a header of any scheme is read as far as it is common, and its payload is left to the scheme', () => {
  const header = encode({ x402Version: 2, accepted: { ...accepted, scheme: 'credit' }, resource: { url: 'u' } })
  expect(decodeHeader(header)).toMatchObject({
    status: 'ok',
    envelope: { scheme: 'credit', amount: '1000', network: 'eip155:8453', resourceUrl: 'u', payload: undefined },
  })
})

test('a payment header in another spelling than canonical base64 of UTF-8 was taken', () => {
  const json = JSON.stringify({ x402Version: 2, accepted, payload })
  const header = [json, `${json} `, `${json}  `]
    .map((text) => Buffer.from(text).toString('base64'))
    .find((text) => text.endsWith('=') && !text.endsWith('==')) as string
  expect(decodePayment(header).status).toBe('ok')
  const spellings = [
    header.replace(/=$/, ''),
    `${header}=`,
    `${header} `,
    ` ${header}`,
    `${header.slice(0, 40)}\n${header.slice(40)}`,
    // The last character before one `=` carries two bits that mean nothing.
    header.replace(/(.)=$/, (_, last: string) => `${String.fromCharCode(last.charCodeAt(0) + 1)}=`),
    header.replace(/=$/, 'A'),
    Buffer.from(`${json}\u00ff\u00ff>>>???`).toString('base64url'),
  ]
  for (const text of spellings) expect(decodePayment(text).status, text.slice(-8)).toBe('malformed')
  const bytes = (...parts: (string | number)[]) =>
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))))
  const [head, tail] = [json.slice(0, -1), json.slice(-1)]
  for (const raw of [
    bytes(head, ',"note":"', 0xff, '"', tail),
    bytes(head, ',"note":"', 0xed, 0xa0, 0x80, '"', tail),
    bytes(0xef, 0xbb, 0xbf, json),
    bytes(head, ',"note":"\\u0000"', tail),
  ])
    expect(decodePayment(raw.toString('base64')).status, raw.toString('latin1').slice(-20)).toBe('malformed')
})
