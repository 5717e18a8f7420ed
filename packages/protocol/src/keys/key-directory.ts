import { isRecord } from '../json-object.ts'
import { earlier, followKeys, type KnownKey } from './follow-keys.ts'
import { type KeyStatement, readStatements } from './key-statement.ts'

/** A public key of a node and the seconds between which its signatures count. */
export type TrustedKey = {
  keyId: string
  x: string
  notBefore: number
  notAfter: number | undefined
  /** Revoked as of then; `notAfter` is not later. */
  revokedAt?: number | undefined
}

export type KeySet = ReadonlyMap<string, TrustedKey>

const keysMax = 256

/** The keys of a directory document that are well formed; others are left out. */
export function readDirectory(document: unknown): { keys: TrustedKey[]; statements: KeyStatement[] } {
  if (!isRecord(document) || !Array.isArray(document.keys)) return { keys: [], statements: [] }
  return {
    keys: document.keys.slice(0, keysMax).flatMap(readKey),
    statements: readStatements(document.statements).map(({ statement }) => statement),
  }
}

function readKey(entry: unknown): TrustedKey[] {
  if (!isRecord(entry)) return []
  const { kty, crv, kid, x, nbf = 0, exp, revoked_at } = entry
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof kid !== 'string' || typeof x !== 'string') return []
  if (typeof nbf !== 'number' || (exp !== undefined && typeof exp !== 'number')) return []
  const key = { keyId: kid, x, notBefore: nbf, notAfter: exp }
  if (revoked_at === undefined) return [key]
  const revokedAt = Math.floor(Date.parse(String(revoked_at)) / 1000)
  // One that cannot be read was still revoked at some time: at the beginning, to be safe.
  return [{ ...key, revokedAt: Number.isNaN(revokedAt) ? 0 : revokedAt }]
}

/** Whose wallet may name new keys, and for which node, by either of its addresses. */
export type Operator = { wallet: string; node: string }

/**
 * The pinned keys after reading a newer directory. A new key is trusted when a pinned key or the operator's wallet
 * vouches for it; a known key may only get a shorter life.
 */
export async function followDirectory(pinned: KeySet, document: unknown, operator?: Operator): Promise<KeySet> {
  const { keys, statements } = readDirectory(document)
  const trusted = new Map(pinned)
  for (const key of keys) {
    const known = trusted.get(key.keyId)
    if (known?.x === key.x) trusted.set(key.keyId, { ...known, notAfter: earlier(known.notAfter, key.notAfter) })
  }
  const followed = await followKeys(statements, {
    keys: [...trusted.values()].map(asAnchor),
    wallets: operator ? [operator.wallet] : [],
    revokedBy: 'anybody',
    ...(operator ? { homes: [operator.node] } : {}),
  })
  for (const key of keys) {
    const found = followed.keys.get(key.keyId)
    if (!trusted.has(key.keyId) && found?.purpose === 'response' && found.x === key.x) trusted.set(key.keyId, key)
  }
  return trusted
}

/** Keys of a directory sign answers. */
export const asAnchor = (key: TrustedKey): KnownKey => ({ revokedAt: undefined, ...key, purpose: 'response' })
