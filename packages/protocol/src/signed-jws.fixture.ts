import { generateKeyPairSync, sign } from 'node:crypto'
import { didWeb } from './did.ts'
import type { KeySet } from './keys/key-directory.ts'

export const authority = 'node.test'
export const issuer = didWeb(authority)
/** The times at which the key of the fixture begins and ends, in seconds. */
export const validity = { notBefore: 1_800_000_000, notAfter: 1_800_086_400 }

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const x = String(publicKey.export({ format: 'jwk' }).x)
export const keys: KeySet = new Map([['key-1', { keyId: 'key-1', x, ...validity }]])

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signed by the key of the fixture, whatever its head says. */
export function signedJws(payload: unknown, head: Record<string, unknown> = {}): string {
  const signed = `${part({ alg: 'EdDSA', kid: `${issuer}#key-1`, ...head })}.${part(payload)}`
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`
}
