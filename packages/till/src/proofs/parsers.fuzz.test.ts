import {
  didOfAccount,
  formatAccount,
  formatKeyId,
  parseAccount,
  parseKeyId,
  parsePkhDid,
} from '@assay/protocol/account'
import { toHex } from '@assay/protocol/bytes'
import { parseSignature, parseSignatureInput } from '@assay/protocol/signatures/signature-input'
import fc from 'fast-check'
import { type InnerList, parseDictionary, serializeInnerList } from 'structured-headers'
import { expect, test } from 'vitest'
import { createNonceIssuer } from './nonces.ts'
import { parseSiwx } from './parse-siwx.ts'

const anyAccount = fc.record({
  chainId: fc.integer({ min: 1, max: 10 ** 15 - 1 }),
  address: fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toHex),
})
const base64Json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')

test('account names survive the round trip, and any other text is refused', () => {
  fc.assert(
    fc.property(anyAccount, (account) => {
      expect(parseAccount(formatAccount(account))).toEqual(account)
      expect(parsePkhDid(didOfAccount(account))).toEqual(account)
      expect(parseKeyId(formatKeyId(account))).toEqual(account)
    }),
  )
  fc.assert(
    fc.property(fc.string(), (text) =>
      [parseAccount, parsePkhDid, parseKeyId].every((parse) => parse(text) === undefined),
    ),
  )
  for (const bad of [
    'erc8128:0:0x',
    'erc8128:1e3:0x',
    `erc8128:01:0x${'00'.repeat(20)}`,
    `eip155:1:0x${'00'.repeat(20)}`,
  ])
    expect(parseKeyId(bad)).toBeUndefined()
})

test('SIGN-IN-WITH-X: any text and any JSON gives a result', () => {
  const field = fc.oneof(fc.string(), fc.constantFrom('1', 'eip191', 'eip155:8453', '2026-01-01T00:00:00Z', '0x12'))
  fc.assert(fc.property(fc.string(), (text) => parseSiwx(text) === undefined))
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('domain', 'address', 'uri', 'version', 'chainId', 'type', 'nonce'), field),
      (object) => {
        expect(() => parseSiwx(base64Json(object))).not.toThrow()
      },
    ),
  )
})

const valid = {
  domain: 'node.example',
  address: `0x${'ab'.repeat(20)}`,
  uri: 'https://node.example',
  version: '1',
  chainId: 'eip155:8453',
  type: 'eip191',
  nonce: '0'.repeat(32),
  issuedAt: '2026-01-01T00:00:00.000Z',
  signature: '0x12',
}

test('SIGN-IN-WITH-X: a field with a line break, a wrong type or too much length is refused', () => {
  expect(parseSiwx(base64Json(valid))?.account.chainId).toBe(8453)
  for (const change of [
    { statement: 'a\nURI: https://evil.example' },
    { domain: 'a\r' },
    { version: '2' },
    { type: 'ed25519' },
    { chainId: 'solana:1' },
    { address: '0x12' },
    { signature: 'nonsense' },
    { signature: `0x${'00'.repeat(9_000)}` },
    { resources: new Array(17).fill('a') },
    { issuedAt: 'yesterday' },
    { nonce: undefined },
  ])
    expect(parseSiwx(base64Json({ ...valid, ...change })), JSON.stringify(change).slice(0, 60)).toBeUndefined()
  expect(parseSiwx(base64Json({ ...valid, statement: 'x'.repeat(30_000) }))).toBeUndefined()
})

test('Signature-Input: any text gives a result, and what is read is written back letter for letter', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-z]=\([" @a-z;=0-9]*\)[;a-z="0-9]*$/)), (text) => {
      expect(() => [parseSignatureInput(text), parseSignature(text, 'sig')]).not.toThrow()
    }),
  )
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.constantFrom('@method', '@path', '@query', 'content-digest', 'date'), { minLength: 1 }),
      fc.integer({ min: 0, max: 10 ** 12 }),
      fc.stringMatching(/^[!#-[\]-~ ]{1,40}$/),
      (names, created, nonce) => {
        const inner = `(${names.map((name) => `"${name}"`).join(' ')});created=${created};nonce="${nonce}"`
        const [input] = parseSignatureInput(`eth=${inner}, other=("@path");keyid="a,b"`) ?? []
        expect(input?.inner).toBe(inner)
        expect(input?.params.get('created')).toBe(created)
        expect(input?.params.get('nonce')).toBe(nonce)
      },
    ),
  )
})

test('Signature-Input: what is accepted, structured-headers reads alike and writes back letter for letter', () => {
  const param = fc.tuple(
    fc.constantFrom(';created=', ';*k=', ';a-b=', '; k='),
    fc.constantFrom('1', '-1', '0', '-0', '01', '1.5', '"x"', '"a,b"', '""', 'x'),
  )
  const member = fc
    .tuple(
      fc.constantFrom('a', 'sig-1', '*x', 'A'),
      fc.uniqueArray(fc.constantFrom('"@path"', '"date"', '"@method"', '"a";req'), { maxLength: 3 }),
      fc.array(param, { maxLength: 2 }),
    )
    .map(([label, names, params]) => `${label}=(${names.join(' ')})${params.flat().join('')}`)
  const separator = fc.constantFrom(',', ', ', '\t,', ' , ', ',,', ';', ' ')
  const header = fc.oneof(
    member,
    fc.tuple(member, separator, member).map((parts) => parts.join('')),
  )
  let accepted = 0
  fc.assert(
    fc.property(header, (text) => {
      const inputs = parseSignatureInput(text)
      if (inputs === undefined) return
      accepted += 1
      const parsed = parseDictionary(text)
      expect([...parsed.keys()]).toEqual(inputs.map(({ label }) => label))
      for (const { label, inner, params } of inputs) {
        const list = parsed.get(label) as InnerList
        expect(serializeInnerList(list)).toBe(inner)
        expect([...list[1]]).toEqual([...params])
      }
    }),
    { numRuns: 1_000 },
  )
  expect(accepted).toBeGreaterThan(50)
})

test('Signature-Input: doubled labels, components or parameters, and unknown syntax, are refused', () => {
  for (const bad of [
    'a=("@path"), a=("@path")',
    'a=("@path" "@path")',
    'a=("@path");created=1;created=2',
    'a=("@path";req)',
    'a=(@path)',
    'a="@path"',
    'a=("@path");keyid="x\\"y"',
    'a=("@path");created=1.5',
    'a=("@path");keyid=token',
    '"',
    '',
    'a=("@path")\n',
  ])
    expect(parseSignatureInput(bad), bad).toBeUndefined()
})

test('a nonce is accepted only where it was issued, until it expires, and not when any digit changed', () => {
  let nowMs = 1_800_000_000_000
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => {} }
  const rng = { bytes: (length: number) => new Uint8Array(length).fill(9) }
  const nonces = createNonceIssuer({ secret: Buffer.alloc(32, 5), clock, rng })
  const { nonce, expiresAtMs } = nonces.issue('https://a.example', 60_000)
  expect(nonces.check(nonce, 'https://a.example')).toBe(expiresAtMs)
  expect(nonces.check(nonce, 'https://b.example')).toBeUndefined()
  fc.assert(
    fc.property(fc.nat({ max: 31 }), fc.constantFrom(...'0123456789abcdef'), (at, digit) => {
      const changed = nonce.slice(0, at) + digit + nonce.slice(at + 1)
      return changed === nonce || nonces.check(changed, 'https://a.example') === undefined
    }),
  )
  fc.assert(fc.property(fc.string(), (text) => nonces.check(text, 'https://a.example') === undefined))
  nowMs += 60_001
  expect(nonces.check(nonce, 'https://a.example')).toBeUndefined()
})
