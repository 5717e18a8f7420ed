import { createHmac } from 'node:crypto'
import { sha256 } from '../kernel/bytes.ts'
import { base32 } from '../kernel/ids.ts'
import type { Keyring } from './keyring.ts'

export type DerivedToken = { token: string; hash: Buffer; keyId: string }

/**
 * Bearer tokens that follow from a signing key and a name. A lost one can be made again by whoever holds the key, so the
 * database needs no more than its hash.
 */
export type TokenMaker = {
  /** With the key that signs now. */
  make(name: string): DerivedToken
  /** The same token again; undefined when this process no longer holds that key. */
  remake(keyId: string, name: string): string | undefined
  looksLike(text: string): boolean
}

export function createTokenMaker(keyring: Pick<Keyring, 'active' | 'held'>, prefix: string): TokenMaker {
  const pattern = new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{52}$`)
  const derive = (seed: string, name: string) =>
    `${prefix}_${base32(createHmac('sha256', Buffer.from(seed, 'base64url')).update(`assay ${prefix} token 1\n${name}`).digest())}`
  return {
    make: (name) => {
      const key = keyring.active()
      const token = derive(key.d, name)
      return { token, hash: tokenHash(token), keyId: key.keyId }
    },
    remake: (keyId, name) => {
      const key = keyring.held(keyId)
      return key && derive(key.d, name)
    },
    looksLike: (text) => pattern.test(text),
  }
}

/** 256 random bits need no salt and no slow hash. */
export function tokenHash(token: string): Buffer {
  return sha256(token)
}
