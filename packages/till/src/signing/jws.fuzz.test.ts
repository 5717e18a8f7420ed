import fc from 'fast-check'
import { compactVerify, importJWK } from 'jose'
import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { systemRng } from '../kernel/random.ts'
import { createJwsSigner, verifyJws } from './jws.ts'
import { createFixedKeyring } from './keyring.ts'
import { generateSigningKey } from './signing-key.ts'

const key = generateSigningKey(systemRng)
const kid = `did:web:127.0.0.1%3A4020#${key.keyId}`
const signer = createJwsSigner(createFixedKeyring(key, 0), { authority: '127.0.0.1:4020', clock: systemClock })
const trusted = (wanted: string) => (wanted === kid ? key.x : undefined)

test('jose verifies what we sign, and the key id is a did:web URL', async () => {
  const jws = signer.sign('{"version":1}')
  const verified = await compactVerify(jws, await importJWK({ kty: 'OKP', crv: 'Ed25519', x: key.x }, 'EdDSA'))
  expect(verified.protectedHeader).toEqual({ alg: 'EdDSA', kid })
  expect(Buffer.from(verified.payload).toString()).toBe('{"version":1}')
})

test('every payload survives the round trip, and the same text may share its signature', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.stringify(value)
      const jws = signer.sign(json, { share: true })
      expect(signer.sign(json, { share: true })).toBe(jws)
      expect(verifyJws(jws, trusted)?.json).toBe(json)
    }),
    { numRuns: 30 },
  )
})

test('any text, and any flipped character, gives undefined', () => {
  fc.assert(fc.property(fc.string(), (text) => verifyJws(text, trusted) === undefined))
  const jws = signer.sign('{"version":1}')
  fc.assert(
    fc.property(fc.nat({ max: jws.length - 1 }), fc.constantFrom('A', 'z', '.', '-'), (at, char) => {
      const changed = jws.slice(0, at) + char + jws.slice(at + 1)
      // The last character of a segment carries spare bits, so another one can mean the same bytes.
      const sameBytes = (a: string, b: string) =>
        a
          .split('.')
          .every((part, i) => Buffer.from(part, 'base64url').equals(Buffer.from(b.split('.')[i] ?? '', 'base64url')))
      return changed === jws || verifyJws(changed, trusted) === undefined || sameBytes(changed, jws)
    }),
  )
  expect(verifyJws(jws, () => undefined)).toBeUndefined()
})
