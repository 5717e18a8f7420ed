import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, verify } from 'node:crypto'
import { thumbprint } from '@assay/protocol/keys/key-statement'
import { openEd25519 } from '../kernel/ed25519.ts'
import type { Rng } from '../kernel/random.ts'

/** A published ed25519 key. `x` is the base64url public key, `keyId` its RFC 7638 thumbprint. */
export type PublicSigningKey = { keyId: string; x: string }

/** One that can sign, wherever its private half is. */
export type PrivateSigningKey = PublicSigningKey & { sign(bytes: Uint8Array): Buffer }

/** One whose private half is in this process. */
export type LocalSigningKey = PrivateSigningKey & { privateKey: KeyObject; d: string }

const keyBytesPattern = /^[A-Za-z0-9_-]{43}$/

/** The key made from a 32-byte seed in base64url, as a JWK carries it in `d`. */
export function privateKeyFromSeed(d: string): LocalSigningKey {
  if (!keyBytesPattern.test(d)) throw new RangeError('an ed25519 seed has 32 bytes')
  // PKCS8 wrapper of a raw seed: a JWK import would need the public half, which is what we want to derive.
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
  const der = Buffer.concat([prefix, Buffer.from(d, 'base64url')])
  return privateKeyFrom(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
}

export function privateKeyFrom(privateKey: KeyObject): LocalSigningKey {
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new RangeError('signing keys are ed25519')
  const { d, x } = privateKey.export({ format: 'jwk' })
  if (d === undefined || x === undefined) throw new RangeError('not a private ed25519 key')
  return { keyId: thumbprint(x), x, d, privateKey, sign: openEd25519(privateKey) }
}

export function generateSigningKey(rng: Rng): LocalSigningKey {
  return privateKeyFromSeed(Buffer.from(rng.bytes(32)).toString('base64url'))
}

export function signEd25519(key: PrivateSigningKey, bytes: Uint8Array): Buffer {
  return key.sign(bytes)
}

/**
 * A further secret that follows from the key, also where this process does not have it: its signature over bytes that no
 * answer, receipt or document begins with. Ed25519 gives the same one each time.
 */
export function deriveSecret(key: PrivateSigningKey, label: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', signEd25519(key, Buffer.from(`\0${label}`)), '', label, 32))
}

/** False for anything that is not a valid signature, a malformed key included. */
export function verifyEd25519(x: string, bytes: Uint8Array, signature: Uint8Array): boolean {
  if (!keyBytesPattern.test(x) || signature.byteLength !== 64) return false
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    return verify(null, bytes, key, signature)
  } catch {
    return false
  }
}
