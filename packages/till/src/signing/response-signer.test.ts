import { createPublicKey, verify } from 'node:crypto'
import { httpbis } from 'http-message-signatures'
import { expect, test } from 'vitest'
import { sha256 } from '../kernel/bytes.ts'
import type { Clock } from '../kernel/clock.ts'
import { systemRng } from '../kernel/random.ts'
import { createFixedKeyring } from './keyring.ts'
import { createResponseSigner } from './response-signer.ts'
import type { ResponseToSign, SignatureHeaders } from './signer.ts'
import { generateSigningKey } from './signing-key.ts'

const key = generateSigningKey(systemRng)
const body = '{"hello":"world"}'

function movableClock(startMs: number) {
  let nowMs = startMs
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => {} }
  return { clock, advance: (ms: number) => (nowMs += ms) }
}

const answer: ResponseToSign = {
  status: 402,
  contentType: 'application/json',
  bodySha256: sha256(body),
  paymentRequired: 'eyJ4NDAyVmVyc2lvbiI6Mn0=',
  method: 'GET',
  authority: '127.0.0.1:4020',
  path: '/v1/sandbox/echo',
  query: '?message=a%20b',
}

function signerAt(clock: Clock) {
  return createResponseSigner(createFixedKeyring(key, 0), { clock })
}

/** Verifies with a library that knows nothing of ours. */
async function verifiesIndependently(signed: ResponseToSign, headers: SignatureHeaders): Promise<boolean> {
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.x }, format: 'jwk' })
  const query = signed.query === '?' ? '' : signed.query
  const result = await httpbis.verifyMessage(
    {
      keyLookup: async ({ keyid }) =>
        keyid === key.keyId
          ? { id: key.keyId, algs: ['ed25519'], verify: async (data, sig) => verify(null, data, publicKey, sig) }
          : null,
      requiredFields: ['@status', 'content-type'],
    },
    {
      status: signed.status,
      headers: {
        'content-type': signed.contentType,
        ...(signed.bodySha256
          ? { 'content-digest': `sha-256=:${Buffer.from(signed.bodySha256).toString('base64')}:` }
          : {}),
        ...(signed.paymentRequired ? { 'payment-required': signed.paymentRequired } : {}),
        ...(signed.paymentResponse ? { 'payment-response': signed.paymentResponse } : {}),
        signature: headers.signature,
        'signature-input': headers['signature-input'],
      },
    },
    { method: signed.method, url: `http://${signed.authority}${signed.path}${query}`, headers: {} },
  )
  return result === true
}

test('an independent library verifies our answers, with and without payment headers, and streams', async () => {
  const { clock } = movableClock(Date.now())
  const signer = signerAt(clock)
  const { paymentRequired: _, ...free } = answer
  const kinds: ResponseToSign[] = [
    answer,
    { ...free, status: 200, query: '?' },
    { ...free, status: 200, paymentResponse: 'eyJzdWNjZXNzIjp0cnVlfQ==' },
    { ...free, status: 200, bodySha256: undefined, contentType: 'text/event-stream' },
  ]
  for (const kind of kinds) {
    const headers = signer.sign(kind)
    expect(await verifiesIndependently(kind, headers)).toBe(true)
    expect(headers['signature-input']).toContain(
      kind.bodySha256 === undefined ? 'tag="x402-stream"' : 'tag="x402-response"',
    )
    expect(headers['content-digest'] === undefined).toBe(kind.bodySha256 === undefined)
  }
})

test('changing any covered part breaks the signature', async () => {
  const { clock } = movableClock(Date.now())
  const headers = signerAt(clock).sign(answer)
  const changes: Partial<ResponseToSign>[] = [
    { status: 200 },
    { contentType: 'text/plain' },
    { bodySha256: sha256('{}') },
    { paymentRequired: 'e30=' },
    { method: 'POST' },
    { authority: '127.0.0.1:4021' },
    { path: '/v1/sandbox/echo2' },
    { query: '?message=c' },
  ]
  for (const change of changes) {
    const verified = await verifiesIndependently({ ...answer, ...change }, headers).catch(() => false)
    expect(verified, JSON.stringify(change)).toBe(false)
  }
  const moved = { ...headers, 'signature-input': headers['signature-input'].replace(/created=\d/, 'created=9') }
  expect(await verifiesIndependently(answer, moved).catch(() => false)).toBe(false)
})

test('the same answer to the same request shares a signature for five seconds and no longer', () => {
  const { clock, advance } = movableClock(1_800_000_000_000)
  const signer = signerAt(clock)
  const first = signer.sign(answer)
  advance(4_999)
  expect(signer.sign({ ...answer, bodySha256: sha256(body) })).toBe(first)
  advance(1)
  const later = signer.sign(answer)
  expect(later).not.toBe(first)
  expect(later['signature-input']).toContain('created=1800000005;expires=1800000305')
})

test('an answer that differs in any covered part never gets a shared signature', () => {
  const { clock } = movableClock(1_800_000_000_000)
  const signer = signerAt(clock)
  const seen = new Set([signer.sign(answer).signature])
  const variants: Partial<ResponseToSign>[] = [
    { status: 200 },
    { contentType: 'text/plain' },
    { bodySha256: sha256('{}') },
    { bodySha256: undefined },
    { paymentRequired: 'e30=' },
    { paymentResponse: 'e30=' },
    { method: 'POST' },
    { authority: 'b.example' },
    { path: '/v1' },
    { query: '?' },
  ]
  for (const variant of variants) seen.add(signer.sign({ ...answer, ...variant }).signature)
  expect(seen.size).toBe(variants.length + 1)
})

test('a caller that reuses its digest buffer does not get the signature of the old bytes', () => {
  const { clock } = movableClock(1_800_000_000_000)
  const signer = signerAt(clock)
  const digest = Buffer.from(sha256(body))
  const first = signer.sign({ ...answer, bodySha256: digest })
  sha256('other').copy(digest)
  expect(signer.sign({ ...answer, bodySha256: digest }).signature).not.toBe(first.signature)
})

test('the cache stays bounded under many distinct requests', () => {
  const { clock } = movableClock(1_800_000_000_000)
  const signer = createResponseSigner(createFixedKeyring(key, 0), { clock, shareEntriesMax: 8 })
  const first = signer.sign(answer)
  for (let i = 0; i < 8; i += 1) signer.sign({ ...answer, path: `/p/${i}` })
  expect(signer.sign(answer)).not.toBe(first)
})

test('a line break in a covered part is refused, for it could pose as another component', () => {
  const { clock } = movableClock(1_800_000_000_000)
  expect(() => signerAt(clock).sign({ ...answer, path: '/a\n"@status": 200' })).toThrow(RangeError)
})
