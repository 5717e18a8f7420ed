import { type PublishedStatement, publishedStatement } from '@assay/protocol/keys/key-statement'
import { toRfc3339 } from '../kernel/clock.ts'
import { didKey } from './did-document.ts'
import type { Keyring } from './keyring.ts'
import type { KeyringRow } from './keyring-store.ts'

export const keyDirectoryPath = '/.well-known/http-message-signatures-directory'
export const keyDirectoryMediaType = 'application/http-message-signatures-directory+json'

/** One public key as a JWK with its validity. A revoked key also ends there for verifiers that know only `exp`. */
export type DirectoryKey = {
  kty: 'OKP'
  crv: 'Ed25519'
  kid: string
  x: string
  use: 'sig'
  nbf: number
  exp?: number
  revoked_at?: string
}

export type KeyDirectory = { keys: DirectoryKey[]; statements: PublishedStatement[] }

/** The body of the key directory: every key ever used for answers, newest first, and the statements about these and about the keys of the log. */
export function keyDirectory(keyring: Keyring): KeyDirectory {
  return {
    keys: [...keyring.keys()].reverse().map(directoryKey),
    statements: keyring.statements().map(publishedStatement),
  }
}

export function directoryKey(row: KeyringRow): DirectoryKey {
  const ends = [row.retiresAtMs, row.revokedAtMs].filter((atMs) => atMs !== undefined)
  return {
    kty: 'OKP',
    crv: 'Ed25519',
    kid: row.keyId,
    x: row.x,
    use: 'sig',
    nbf: Math.floor(row.activatesAtMs / 1000),
    ...(ends.length === 0 ? {} : { exp: Math.floor(Math.min(...ends) / 1000) }),
    ...(row.revokedAtMs === undefined ? {} : { revoked_at: toRfc3339(row.revokedAtMs) }),
  }
}

/** The short list for `GET /`: which key signs now, and where all of them are. */
export function keysForIndex(keyring: Keyring): {
  key_id: string
  algorithm: 'ed25519'
  public_key: string
  did_key: string
  directory: string
  did_document: string
} {
  const { keyId, x } = keyring.active()
  return {
    key_id: keyId,
    algorithm: 'ed25519',
    public_key: x,
    did_key: didKey(x),
    directory: keyDirectoryPath,
    did_document: '/.well-known/did.json',
  }
}
