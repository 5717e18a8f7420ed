import { createHash, createPublicKey, verify } from 'node:crypto'
import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { systemClock } from '@assay/till/kernel/clock'
import { createFixedKeyring, createJwsSigner, privateKeyFromSeed } from '@assay/till/signing'
import { expect, test } from 'vitest'
import { fixtureRoutes } from '../../http/http-app.fixture.ts'
import { nodeSite } from '../../http/node-site.ts'
import { agentCard } from './agent-card.ts'

const site = nodeSite({
  baseUrl: 'https://node.test',
  apiUrl: 'https://api.test',
  contactEmail: 'a@node.test',
  contentLicense: 'LicenseRef-Assay-1.0',
})
const key = privateKeyFromSeed(createHash('sha256').update('card').digest('base64url'))
const jws = createJwsSigner(createFixedKeyring(key, 0), { authority: 'node.test', clock: systemClock })
const card = agentCard(site, fixtureRoutes(), (payload) => jws.sign(payload))

test('it has every field that A2A 1.0 requires, and a skill for each thing that is sold', () => {
  expect(Object.keys(card)).toEqual(
    expect.arrayContaining([
      'name',
      'description',
      'supportedInterfaces',
      'version',
      'capabilities',
      'defaultInputModes',
      'defaultOutputModes',
      'skills',
    ]),
  )
  expect(card.skills.map((skill) => skill.id)).toEqual(['paid.report', 'paid.order'])
  for (const skill of card.skills)
    expect(skill).toMatchObject({ name: expect.any(String), description: expect.any(String), tags: expect.any(Array) })
  for (const face of card.supportedInterfaces)
    expect(face).toMatchObject({ url: expect.any(String), protocolBinding: expect.any(String), protocolVersion: '1.0' })
})

test('it promises no transport of A2A itself: calls are made by HTTP or MCP', () => {
  const bindings = card.supportedInterfaces.map(({ protocolBinding }) => protocolBinding)
  for (const own of ['JSONRPC', 'GRPC', 'HTTP+JSON']) expect(bindings).not.toContain(own)
  expect(JSON.stringify(card.capabilities)).not.toContain('a2a-x402')
})

test('its signature is over the canonical card without signatures', () => {
  const { signatures, ...rest } = card
  const [{ protected: header, signature } = { protected: '', signature: '' }] = signatures
  const payload = Buffer.from(canonicalJson(rest as unknown as Json)).toString('base64url')
  const publicKey = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: key.x } })
  expect(verify(null, Buffer.from(`${header}.${payload}`), publicKey, Buffer.from(signature, 'base64url'))).toBe(true)
})
