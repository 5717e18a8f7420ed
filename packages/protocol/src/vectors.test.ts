import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { utf8 } from './bytes.ts'
import { followDirectory, readDirectory } from './keys/key-directory.ts'
import { verifyReceipt } from './receipt.ts'
import { type ReceivedResponse, verifyResponse } from './signatures/verify-response.ts'

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../test/vectors/${name}.json`, import.meta.url), 'utf8'))
const vector = read('signatures')
const keys = new Map(readDirectory(vector.directory).keys.map((key) => [key.keyId, key]))

function received(change: Partial<ReceivedResponse> = {}, headers: Record<string, string> = {}): ReceivedResponse {
  const { status, content_type, payment_required, body } = vector.response
  return {
    status,
    body: utf8(body),
    headers: new Headers({
      'content-type': content_type,
      'payment-required': payment_required,
      ...vector.response.headers,
      ...headers,
    }),
    ...change,
  }
}
const sent = {
  method: vector.response.method,
  url: `http://${vector.response.authority}${vector.response.path}${vector.response.query}`,
}
const nowMs = vector.response.signed_at_ms

test('a response signed by a node verifies, from keys and from a directory', async () => {
  expect((await verifyResponse(sent, received(), { keys, nowMs })).status).toBe('verified')
  expect((await verifyResponse(sent, received(), { directory: vector.directory, nowMs })).status).toBe('verified')
})

test('any change of response, request, time or key breaks it', async () => {
  const outcomes = await Promise.all([
    verifyResponse(sent, received({ status: 200 }), { keys, nowMs }),
    verifyResponse(sent, received({ body: utf8('{}') }), { keys, nowMs }),
    verifyResponse(sent, received({}, { 'content-type': 'text/plain' }), { keys, nowMs }),
    verifyResponse(sent, received({}, { 'payment-required': 'e30=' }), { keys, nowMs }),
    verifyResponse(sent, received({}, { 'payment-response': 'e30=' }), { keys, nowMs }),
    verifyResponse(sent, received({ body: undefined }), { keys, nowMs }),
    verifyResponse({ ...sent, method: 'POST' }, received(), { keys, nowMs }),
    verifyResponse({ ...sent, url: sent.url.replace('echo', 'ech0') }, received(), { keys, nowMs }),
    verifyResponse({ ...sent, url: sent.url.replace('4020', '4021') }, received(), { keys, nowMs }),
    verifyResponse({ ...sent, url: sent.url.replace('a%20b', 'c') }, received(), { keys, nowMs }),
    verifyResponse(sent, received(), { keys, nowMs: nowMs + 400_000 }),
    verifyResponse(sent, received(), { keys, nowMs: nowMs - 100_000 }),
  ])
  expect(outcomes.map((outcome) => outcome.status)).toEqual(new Array(outcomes.length).fill('invalid'))
  expect((await verifyResponse(sent, received(), { keys: new Map(), nowMs })).status).toBe('unknown_key')
})

test('a signature made after its key was revoked does not count; one made before does', async () => {
  const [key] = readDirectory(vector.directory).keys
  if (key === undefined) throw new Error('the vector has a key')
  const revoked = (atSeconds: number) => new Map([[key.keyId, { ...key, notAfter: atSeconds }]])
  expect((await verifyResponse(sent, received(), { keys: revoked(nowMs / 1000 - 1), nowMs })).status).toBe('invalid')
  expect((await verifyResponse(sent, received(), { keys: revoked(nowMs / 1000 + 1), nowMs })).status).toBe('verified')
})

test('a receipt of the node verifies, and not for another seller, payer or resource', async () => {
  const { jws, authority, json } = vector.receipt
  const { payer, resourceUrl, network } = JSON.parse(json)
  const expected = { payer, resourceUrl, network }
  expect((await verifyReceipt(jws, { keys, authority, expected })).status).toBe('verified')
  const bad = [
    verifyReceipt(jws, { keys, authority: 'other.example' }),
    verifyReceipt(jws, { keys: new Map(), authority }),
    verifyReceipt(jws, { keys, authority, expected: { ...expected, payer: `0x${'01'.repeat(20)}` } }),
    verifyReceipt(jws, { keys, authority, expected: { ...expected, resourceUrl: 'http://127.0.0.1:4020/' } }),
    verifyReceipt(jws, { keys, authority, expected: { ...expected, network: 'eip155:137' } }),
    verifyReceipt(jws.replace(/.{10}$/, 'AAAAAAAAAA'), { keys, authority }),
    verifyReceipt('nonsense', { keys, authority }),
  ]
  for (const outcome of await Promise.all(bad)) expect(outcome.status).toBe('invalid')
})

const { key_statement: statement, next_key: next } = vector
const published = {
  action: statement.message.action,
  purpose: statement.message.purpose,
  key_id: statement.message.keyId,
  public_key: statement.message.publicKey,
  not_before: statement.message.notBefore,
  not_after: statement.message.notAfter,
  node: statement.message.node,
  api: statement.message.api,
  origin: statement.message.origin,
  tree_size: statement.message.treeSize,
  predecessor_key_id: statement.message.predecessor,
  predecessor_until: statement.message.predecessorUntil,
  predecessor_signature: null,
  chain_id: statement.chain_id,
  wallet: statement.wallet,
  wallet_signature: statement.wallet_signature,
}
const byOldKey = {
  predecessor_signature: statement.predecessor_signature,
}
const nextKey = { kty: 'OKP', crv: 'Ed25519', kid: next.key_id, x: next.x, nbf: statement.message.notBefore }

test('a new key is followed when the pinned key or the operator vouches for it, and otherwise not', async () => {
  const directory = (statements: unknown[]) => ({ keys: [nextKey, ...vector.directory.keys], statements })
  const { node } = statement.message
  const follow = async (statements: unknown[], operator?: { wallet: string; node: string }) =>
    (await followDirectory(keys, directory(statements), operator)).has(next.key_id)
  expect(await follow([{ ...published, ...byOldKey }])).toBe(true)
  expect(await follow([published], { wallet: statement.wallet, node })).toBe(true)
  expect(await follow([published], { wallet: statement.wallet, node: 'https://other.example' })).toBe(false)
  expect(await follow([published])).toBe(false)
  expect(await follow([])).toBe(false)
  expect(await follow([published], { wallet: `0x${'01'.repeat(20)}`, node })).toBe(false)
  expect(await follow([{ ...published, ...byOldKey, node: 'http://127.0.0.1:4021' }])).toBe(false)
  expect(await follow([{ ...published, ...byOldKey, action: 'revoke' }])).toBe(false)
})

test('a key that was revoked cannot name a successor', async () => {
  const revoked = vector.directory.keys.map((key: object) => ({ ...key, exp: statement.message.notBefore - 1 }))
  const followed = await followDirectory(keys, {
    keys: [nextKey, ...revoked],
    statements: [{ ...published, ...byOldKey }],
  })
  expect(followed.has(next.key_id)).toBe(false)
  expect(followed.get(vector.key.key_id)?.notAfter).toBe(statement.message.notBefore - 1)
})
