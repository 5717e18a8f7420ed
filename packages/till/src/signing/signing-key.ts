import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { thumbprint } from '@assay/protocol/keys/key-statement'
import type { Rng } from '../kernel/random.ts'

/** A published ed25519 key. `x` is the base64url public key, `keyId` its RFC 7638 thumbprint. */
export type PublicSigningKey = { keyId: string; x: string }

export type PrivateSigningKey = PublicSigningKey & { privateKey: KeyObject; d: string }

const keyBytesPattern = /^[A-Za-z0-9_-]{43}$/

/** The key made from a 32-byte seed in base64url, as a JWK carries it in `d`. */
export function privateKeyFromSeed(d: string): PrivateSigningKey {
  if (!keyBytesPattern.test(d)) throw new RangeError('an ed25519 seed has 32 bytes')
  // PKCS8 wrapper of a raw seed: a JWK import would need the public half, which is what we want to derive.
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
  const der = Buffer.concat([prefix, Buffer.from(d, 'base64url')])
  return privateKeyFrom(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
}

export function privateKeyFrom(privateKey: KeyObject): PrivateSigningKey {
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new RangeError('signing keys are ed25519')
  const { d, x } = privateKey.export({ format: 'jwk' })
  if (d === undefined || x === undefined) throw new RangeError('not a private ed25519 key')
  return { keyId: thumbprint(x), x, d, privateKey }
}

export function generateSigningKey(rng: Rng): PrivateSigningKey {
  return privateKeyFromSeed(Buffer.from(rng.bytes(32)).toString('base64url'))
}

export function signEd25519(key: PrivateSigningKey, bytes: Uint8Array): Buffer {
  return sign(null, bytes, key.privateKey)
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
