import { createPrivateKey, sign } from 'node:crypto'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openEd25519 } from './ed25519.ts'

/** PKCS8 wrapper of a raw seed. */
const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const keyOf = (seed: Uint8Array) =>
  createPrivateKey({ key: Buffer.concat([prefix, seed]), format: 'der', type: 'pkcs8' })
const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('signatures are those of node:crypto, byte for byte', () => {
  fc.assert(
    fc.property(seeds, fc.uint8Array({ maxLength: 2_000 }), fc.nat(8), (seed, bytes, offset) => {
      const key = keyOf(seed)
      const part = bytes.subarray(Math.min(offset, bytes.byteLength))
      expect(openEd25519(key)(part).equals(sign(null, part, key))).toBe(true)
    }),
  )
})

test('a signature does not change when the next one is made', () => {
  const signBytes = openEd25519(keyOf(new Uint8Array(32).fill(7)))
  const first = signBytes(Buffer.from('one'))
  const copy = Buffer.from(first)
  signBytes(Buffer.from('two'))
  expect(first.equals(copy)).toBe(true)
})

test('libsodium is installed with the workspace', () => {
  expect(createRequire(import.meta.url)('sodium-native')).toHaveProperty('crypto_sign_detached')
})
