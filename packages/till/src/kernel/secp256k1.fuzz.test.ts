import type { Address } from '@assay/protocol/address'
import { toHex } from '@assay/protocol/bytes'
import fc from 'fast-check'
import { privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { isSignedBy, recoverAddress, signDigest } from './secp256k1.ts'

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
// Below the group order whatever the other bytes are, and never zero.
const secrets = bytes32.map((bytes) =>
  Uint8Array.from(bytes, (byte, at) => (at === 0 ? byte & 0x7f : at === 31 ? byte | 1 : byte)),
)
const addressOf = (secret: Uint8Array) => privateKeyToAddress(toHex(secret)).toLowerCase() as Address

function signed(digest: Uint8Array, secret: Uint8Array): Uint8Array {
  const { signature, recoveryId } = signDigest(digest, secret)
  return Uint8Array.from([...signature, 27 + recoveryId])
}

test('who signed is who is recovered, whether it was seen before or not', () => {
  fc.assert(
    fc.property(secrets, bytes32, bytes32, (secret, first, second) => {
      const address = addressOf(secret)
      for (const digest of [first, second, first]) {
        expect(recoverAddress(digest, signed(digest, secret))).toBe(address)
        expect(isSignedBy(address, digest, signed(digest, secret))).toBe(true)
      }
    }),
    { numRuns: 30 },
  )
})

test('a known wallet did not sign what was changed, nor what another wallet signed', () => {
  fc.assert(
    fc.property(
      secrets,
      secrets,
      bytes32,
      fc.nat(63),
      fc.integer({ min: 1, max: 255 }),
      (secret, other, digest, at, flip) => {
        fc.pre(!Buffer.from(secret).equals(other))
        const address = addressOf(secret)
        const signature = signed(digest, secret)
        expect(isSignedBy(address, digest, signature)).toBe(true)
        const changed = signature.with(at, (signature[at] as number) ^ flip)
        const elsewhere = digest.with(at >> 1, (digest[at >> 1] as number) ^ flip)
        expect(isSignedBy(address, digest, changed)).toBe(false)
        expect(isSignedBy(address, elsewhere, signature)).toBe(false)
        expect(isSignedBy(address, digest, signed(digest, other))).toBe(false)
      },
    ),
    { numRuns: 30 },
  )
})

test('a known wallet gets no second form of its signature accepted', () => {
  const secret = Buffer.alloc(32, 3)
  const digest = Buffer.alloc(32, 9)
  const address = addressOf(secret)
  const signature = signed(digest, secret)
  expect(isSignedBy(address, digest, signature)).toBe(true)
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const highS = (order - BigInt(toHex(signature.subarray(32, 64)))).toString(16).padStart(64, '0')
  const malleated = Uint8Array.from([
    ...signature.subarray(0, 32),
    ...Buffer.from(highS, 'hex'),
    (signature[64] as number) ^ 7,
  ])
  expect(isSignedBy(address, digest, malleated)).toBe(false)
  expect(isSignedBy(address, digest, signature.with(64, 1))).toBe(false)
  expect(isSignedBy(address, digest, signature.with(64, 1), { allowZeroOne: true })).toBe(true)
  expect(isSignedBy(address, digest, signature.subarray(0, 64))).toBe(false)
  expect(isSignedBy(address, digest.subarray(0, 31), signature)).toBe(false)
})
