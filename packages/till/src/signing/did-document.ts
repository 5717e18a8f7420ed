import { didWeb } from '@assay/protocol/did'
import type { Keyring } from './keyring.ts'

const base58Alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

function base58(bytes: Uint8Array): string {
  let value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  for (; value > 0n; value /= 58n) text = base58Alphabet.charAt(Number(value % 58n)) + text
  return text
}

/** did:key of an ed25519 key: multicodec 0xed01, base58btc. */
export function didKey(x: string): string {
  return `did:key:z${base58(Buffer.concat([Buffer.of(0xed, 0x01), Buffer.from(x, 'base64url')]))}`
}

type VerificationMethod = {
  id: string
  type: 'JsonWebKey2020'
  controller: string
  publicKeyJwk: { kty: 'OKP'; crv: 'Ed25519'; kid: string; x: string }
  revoked?: string
}

/** The did:web document: all keys are listed, only those that may still sign are under assertionMethod. */
export function didDocument(keyring: Keyring, authority: string, nowMs: number) {
  const id = didWeb(authority)
  const keys = [...keyring.keys()].reverse()
  const trusted = keys.filter(
    (key) => key.revokedAtMs === undefined && (key.retiresAtMs === undefined || key.retiresAtMs > nowMs),
  )
  const methods = keys.map((key): VerificationMethod => {
    const publicKeyJwk = { kty: 'OKP', crv: 'Ed25519', kid: key.keyId, x: key.x } as const
    const method = { id: `${id}#${key.keyId}`, type: 'JsonWebKey2020', controller: id, publicKeyJwk } as const
    return key.revokedAtMs === undefined ? method : { ...method, revoked: new Date(key.revokedAtMs).toISOString() }
  })
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id,
    alsoKnownAs: trusted.map((key) => didKey(key.x)),
    verificationMethod: methods,
    assertionMethod: trusted.map((key) => `${id}#${key.keyId}`),
    authentication: trusted.map((key) => `${id}#${key.keyId}`),
  }
}
