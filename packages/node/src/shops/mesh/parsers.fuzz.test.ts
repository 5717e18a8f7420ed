import { anyText } from '@assay/protocol/any-text.fixture'
import { parseNodeAddress } from '@assay/protocol/mesh/node-address'
import { readMeshStatement } from '@assay/protocol/mesh/read-statement'
import { claimedKeyId, openStatement, verifyMeshStatement } from '@assay/protocol/mesh/statement'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { askedMicro, compareAskedPrice } from './check-prices.ts'
import { reportOffer } from './mesh.fixture.ts'
import { readBrief } from './mesh-document.ts'
import { meshSettings } from './settings.ts'
import { readNodeRequest } from './verify-node-request.ts'

const outsideText = fc.oneof(fc.string(), anyText(), fc.json())

test('no text makes a parser of outside bytes throw', async () => {
  await fc.assert(
    fc.asyncProperty(outsideText, async (text) => {
      expect(() => parseNodeAddress(text)).not.toThrow()
      expect(() => claimedKeyId(text)).not.toThrow()
      expect(() => openStatement(text)).not.toThrow()
      expect(['malformed', 'not_canonical']).toContain(readMeshStatement(text))
      expect((await verifyMeshStatement(text, { address: 'https://a.example.org', keys: [], nowMs: 0 })).ok).toBe(false)
      expect(askedMicro(text)).toEqual([])
      expect(askedMicro(Buffer.from(text).toString('base64'))).toEqual([])
    }),
  )
  fc.assert(fc.property(fc.jsonValue(), (value) => void readBrief(value)))
})

test('an address that is taken is an origin, and its name leads back to it', () => {
  fc.assert(
    fc.property(fc.webUrl(), fc.nat({ max: 65_535 }), (url, port) => {
      const { origin, hostname, host } = new URL(url)
      for (const text of [url, origin, `${origin}:${port}`, `https://${hostname}:${port}`]) {
        const address = parseNodeAddress(text)
        if (address === undefined) continue
        expect(new URL(address.origin).origin).toBe(text)
        expect(decodeURIComponent(address.did.slice('did:web:'.length))).toBe(new URL(text).host)
      }
      expect(host).toBeDefined()
    }),
  )
})

test('whatever the headers say, a request without a good signature ends as a problem', () => {
  fc.assert(
    fc.property(outsideText, outsideText, outsideText, (input, signature, digest) => {
      const headers = new Map([
        ['signature-input', input],
        ['signature', signature],
        ['content-digest', digest],
      ])
      const request = { method: 'POST', authority: 'a', path: '/', headers, rawBody: Buffer.from('{}') }
      expect(() => readNodeRequest(request, 0)).toThrow(expect.objectContaining({ name: 'Problem' }))
    }),
  )
})

test('a price fits exactly when every amount asked is within what is stated', () => {
  fc.assert(
    fc.property(fc.array(fc.bigInt(0n, 100n), { minLength: 1 }), fc.nat(100), fc.nat(100), (asked, a, b) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)]
      const offer = { ...reportOffer, price_micro: String(low), price_micro_max: String(high) }
      const fits = asked.every((amount) => amount >= BigInt(low) && amount <= BigInt(high))
      expect(compareAskedPrice(offer, asked).status === 'fits').toBe(fits)
    }),
  )
})

test('settings out of bounds stop the start, and a production node exposes no ports of its own machine', () => {
  expect(meshSettings({ visit_ms: 500, loopback_ports: '5000-5001' }, 'demo')).toMatchObject({
    visitEveryMs: 500,
    loopbackPorts: { from: 5_000, to: 5_001 },
  })
  expect(meshSettings({}, 'production').loopbackPorts).toBeUndefined()
  expect(() => meshSettings({ loopback_ports: '5000-5001' }, 'production')).toThrow('demo mode')
  expect(() => meshSettings({ visit_ms: 1, nonsense: true }, 'demo')).toThrow(/visit_ms[\s\S]*nonsense/)
})
