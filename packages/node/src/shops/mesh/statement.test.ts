import { readFileSync } from 'node:fs'
import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { parseNodeAddress } from '@assay/protocol/mesh/node-address'
import { readMeshStatement } from '@assay/protocol/mesh/read-statement'
import { statementCharsMax, statementType, verifyMeshStatement } from '@assay/protocol/mesh/statement'
import { createJwsSigner, keyDirectory } from '@assay/till/signing'
import { expect, test } from 'vitest'
import { fixedKeyring, movableClock, reportOffer, testDeps } from './mesh.fixture.ts'
import { makeStatement } from './own-statement.ts'
import { silentDatabase } from './silent-database.fixture.ts'

const clock = movableClock(1_767_225_600_000)
const keyring = fixedKeyring(7)
const deps = testDeps({
  origin: 'https://api.example.org',
  database: silentDatabase,
  clock,
  keyring,
  fetcher: { fetch: () => Promise.reject(new Error('unused')) },
  offers: [reportOffer],
})
const keys = keyDirectory(keyring).keys
const check = { address: 'https://api.example.org', keys, nowMs: clock.nowMs() }
const made = makeStatement(deps, 42)
const sign = (value: Json, typ = statementType, authority = 'api.example.org') =>
  createJwsSigner(keyring, { authority, clock, typ }).sign(canonicalJson(value))
const content = made.statement as unknown as Record<string, Json>

test('the statement of the documentation: canonical, signed, and the same bytes each time', async () => {
  expect(await verifyMeshStatement(made.jws, check)).toMatchObject({ ok: true, statement: made.statement })
  expect(makeStatement(deps, 42).jws).toBe(made.jws)
  expect(keyring.active()).toMatchObject({
    keyId: '--6IM5l0OosLj9yWskISYhUA3n_3CURQkmrYMSha_ck',
  })
  const document = readFileSync(new URL('../../../../../docs/mesh-protocol.md', import.meta.url), 'utf8')
  expect(document).toContain(`
${made.jws}
`)
  expect(document).toContain(`
${canonicalJson(content)}
`)
})

test.each<[string, string, string]>([
  ['another type', sign(content, 'JWT'), 'signature'],
  ['the key of another name', sign(content, statementType, 'evil.example.org'), 'signature'],
  ['another DID', sign({ ...content, did: 'did:web:evil.example.org' }), 'other_node'],
  ['another address', sign({ ...content, address: 'https://evil.example.org' }), 'other_node'],
  [
    'a time to come',
    sign({ ...content, issued_at: '2026-01-01T01:00:00.000Z', expires_at: '2026-01-01T01:10:00.000Z' }),
    'from_the_future',
  ],
  [
    'a time gone by',
    sign({ ...content, issued_at: '2025-12-31T23:00:00.000Z', expires_at: '2025-12-31T23:10:00.000Z' }),
    'expired',
  ],
  ['too long a life', sign({ ...content, expires_at: '2026-01-02T00:00:00.000Z' }), 'expired'],
  ['no sequence', sign({ ...content, sequence: 0 }), 'malformed'],
  [
    'a negative price',
    sign({ ...content, offers: [{ ...reportOffer, price_micro: '-1' }] as unknown as Json }),
    'malformed',
  ],
  ['too many offers', sign({ ...content, offers: Array(129).fill(reportOffer) as unknown as Json }), 'too_large'],
  ['another major version', sign({ ...content, protocol: '2.0.0' }), 'malformed'],
  ['a base address that is none', sign({ ...content, base_url: 'https://example.org/path' }), 'malformed'],
  ['nothing signed', 'e30.e30.', 'signature'],
  ['too much', 'a'.repeat(statementCharsMax + 1), 'too_large'],
])('a statement with %s is refused', async (_, jws, reason) => {
  expect(await verifyMeshStatement(jws, check)).toEqual({ ok: false, reason })
})

test('a changed byte, a revoked key and another form of the same value are refused', async () => {
  const [head, body, signature] = made.jws.split('.')
  const changed = Buffer.from(String(body), 'base64url').toString().replace('20000', '10000')
  const forged = `${head}.${Buffer.from(changed).toString('base64url')}.${signature}`
  expect(await verifyMeshStatement(forged, check)).toEqual({ ok: false, reason: 'signature' })
  const revoked = keys.map((key) => ({ ...key, exp: clock.nowMs() / 1000 - 600 }))
  expect(await verifyMeshStatement(made.jws, { ...check, keys: revoked })).toEqual({
    ok: false,
    reason: 'key_not_valid_then',
  })
  expect(readMeshStatement(JSON.stringify(content, null, 1))).toBe('not_canonical')
})

test.each([
  ['https://api.example.org', 'did:web:api.example.org'],
  ['https://api.example.org:8443', 'did:web:api.example.org%3A8443'],
  ['http://127.0.0.1:4021', 'did:web:127.0.0.1%3A4021'],
  ['http://node.test', 'did:web:node.test'],
  ['http://api.example.org', undefined],
  ['https://api.example.org/', undefined],
  ['https://user@api.example.org', undefined],
  ['HTTPS://api.example.org', undefined],
  ['ftp://api.example.org', undefined],
  ['', undefined],
])('the address %s has the name %s', (text, did) => {
  expect(parseNodeAddress(text)?.did).toBe(did)
})
