import { createHmac } from 'node:crypto'
import { sha256 } from '../kernel/bytes.ts'
import { base32 } from '../kernel/ids.ts'
import type { Rng } from '../kernel/random.ts'
import type { Sql } from '../store/database.ts'
import { tokenSecretInForce, tokenSecretOf } from './token-secret.ts'

export type DerivedToken = { token: string; hash: Buffer; secretVersion: number }

/**
 * Bearer tokens that follow from a secret and a name, such as `asub_1_…` with version 1 of the secret. A lost one can be
 * made again, so what is stored of it is its hash; the signing keys have no part in it.
 */
export type TokenMaker = {
  /** Makes tokens with the secret in force. */
  issuer(sql: Sql): Promise<(name: string) => DerivedToken>
  /** The same token again; undefined when its secret was revoked. */
  remake(sql: Sql, secretVersion: number, name: string): Promise<string | undefined>
  looksLike(text: string): boolean
}

export function createTokenMaker(rng: Rng, prefix: string): TokenMaker {
  const pattern = new RegExp(`^${prefix}_[1-9][0-9]{0,8}_[0-9a-hjkmnp-tv-z]{52}$`)
  const derive = (secret: Buffer, version: number, name: string) =>
    `${prefix}_${version}_${base32(createHmac('sha256', secret).update(`assay ${prefix} token 2\n${name}`).digest())}`
  return {
    issuer: async (sql) => {
      const { version, secret } = await tokenSecretInForce(sql, rng)
      return (name) => {
        const token = derive(secret, version, name)
        return { token, hash: tokenHash(token), secretVersion: version }
      }
    },
    remake: async (sql, secretVersion, name) => {
      const known = await tokenSecretOf(sql, secretVersion)
      return known && derive(known.secret, known.version, name)
    },
    looksLike: (text) => pattern.test(text),
  }
}

/** 256 random bits need no salt and no slow hash. */
export function tokenHash(token: string): Buffer {
  return sha256(token)
}
