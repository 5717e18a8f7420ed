import { expect, test } from 'vitest'
import { didCharsMax, didInPath, parseDid } from './parse-did.ts'

const wallet = '0x2c7536e3605d9c16a7a3d7b1898e529396a65c23'
const mixed = '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23'
const parse = (text: string) => parseDid(text, 'x402')

test('a wallet DID is read in any case of its digits and has one canonical form', () => {
  const parsed = parse(`did:x402:${mixed}`)
  expect(parsed).toMatchObject({
    status: 'ok',
    did: `did:x402:${mixed}`,
    canonical: `did:x402:${wallet}`,
    subject: { kind: 'wallet', address: wallet },
  })
})

test('did:pkh keeps its chain', () => {
  expect(parse(`did:pkh:eip155:137:${mixed}`)).toMatchObject({
    canonical: `did:pkh:eip155:137:${wallet}`,
    subject: { kind: 'wallet', address: wallet, chainId: 137 },
  })
})

test('did:web keeps an escaped port and the case of its path', () => {
  expect(parse('did:web:Example.org%3a4020:Users')).toMatchObject({
    canonical: 'did:web:example.org%3A4020:Users',
    subject: { kind: 'web' },
  })
})

test.each([
  '',
  'did',
  'did:',
  'did:x402',
  'did:x402:',
  'did::abc',
  `DID:x402:${wallet}`,
  `did:X402:${wallet}`,
  `did:x402:${wallet.slice(0, -1)}`,
  `did:x402:${wallet}0`,
  `did:x402:0X${wallet.slice(2)}`,
  'did:x402:0xzz7536e3605d9c16a7a3d7b1898e529396a65c23',
  `did:pkh:eip155:0:${wallet}`,
  `did:pkh:eip155:${wallet}`,
  'did:web:',
  'did:web:-host',
  'did:web:host::path',
  'did:example:a b',
  'did:example:a%zz',
  'did:example:abc:',
  'did:example:ümlaut',
  `did:x402:${wallet}#a#b`,
  `did:x402:${'0'.repeat(didCharsMax)}`,
])('%s is no DID', (text) => {
  expect(parse(text).status).toBe('invalid')
})

test.each(['did:example:123', 'did:key:z6Mk', 'did:pkh:solana:4sGjMW1sUnHzSxGspuhpqLDx6wiyjNtZ', 'did:pkh:bip122:a:b'])(
  '%s is a DID of a method that is not supported',
  (text) => {
    expect(parse(text).status).toBe('method_not_supported')
  },
)

test('a DID URL is taken apart', () => {
  expect(parse(`did:x402:${wallet}/a/b?service=x402&x=%2F#key-1`)).toMatchObject({
    did: `did:x402:${wallet}`,
    url: { path: '/a/b', query: 'service=x402&x=%2F', fragment: 'key-1' },
  })
})

test('percent signs in the path of a request belong to the DID when it is there unencoded, and to the URL otherwise', () => {
  const before = '/1.0/identifiers/'
  const did = 'did:web:127.0.0.1%3A4020'
  expect(didInPath(`${before}${did}`, before)).toBe(did)
  expect(didInPath(`${before}${encodeURIComponent(did)}`, before)).toBe(did)
  expect(didInPath(`${before}did%3Ax402%3A${wallet}%23key`, before)).toBe(`did:x402:${wallet}#key`)
  expect(didInPath(`${before}%ff`, before)).toBe('%ff')
})
