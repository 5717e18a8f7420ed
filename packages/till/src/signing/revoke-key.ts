import { Problem } from '../kernel/problem.ts'
import {
  announceKeyring,
  insertKey,
  insertStatement,
  type KeyringRow,
  lockKeyring,
  markRevoked,
  retireKeysBefore,
} from './keyring-store.ts'
import { createPrivateKeyStore } from './private-keys.ts'
import { type KeyChangeDeps, signedStatement, statementFor } from './rotate-key.ts'
import { generateSigningKey } from './signing-key.ts'
import { revokeKeyTokens } from './token-secret.ts'

export type RevokeKeyOptions = {
  keyId: string
  /** Signatures created after this are not valid: when the key was lost, not when that was noticed. */
  revokedAtMs: number
}

/**
 * The operator's wallet takes a lost or stolen key back. When nothing else could sign afterwards, a new key is in use
 * at once, vouched for by the wallet alone: the word of a stolen key is worth nothing.
 */
export async function revokeKey(deps: KeyChangeDeps, options: RevokeKeyOptions): Promise<{ activeKeyId: string }> {
  const { database, clock, rng, keyring, identity } = deps
  await keyring.refresh()
  const target = keyring.keys().find((row) => row.keyId === options.keyId)
  if (target === undefined) throw new Problem('not_found', { detail: 'The keyring has no such key.' })
  if (options.revokedAtMs > clock.nowMs())
    throw new Problem('input_invalid', { detail: 'A revocation cannot lie in the future; rotate the key instead.' })

  const revocation = await signedStatement(
    deps,
    statementFor(identity, 'revoke', target, target.activatesAtMs, options.revokedAtMs),
  )
  const replacement = needsReplacement(keyring.keys(), options.keyId, clock.nowMs())
    ? generateSigningKey(rng)
    : undefined
  const nowMs = clock.nowMs()
  const addition = replacement && (await signedStatement(deps, statementFor(identity, 'add', replacement, nowMs, 0)))
  const secrets = createPrivateKeyStore(database, deps.keyFile)
  if (replacement) await secrets.addBefore(replacement)
  await database.transaction(async (tx) => {
    await lockKeyring(tx)
    await markRevoked(tx, options.keyId, options.revokedAtMs)
    await insertStatement(tx, revocation, nowMs)
    await revokeKeyTokens(tx, nowMs)
    if (replacement && addition) {
      await insertKey(tx, replacement, nowMs, nowMs)
      await secrets.addWith(tx, replacement)
      await retireKeysBefore(tx, replacement.keyId, nowMs)
      await insertStatement(tx, addition, nowMs)
    }
    await announceKeyring(tx)
  })
  await keyring.refresh()
  return { activeKeyId: keyring.active().keyId }
}

function needsReplacement(rows: readonly KeyringRow[], revokedKeyId: string, nowMs: number): boolean {
  return !rows.some(
    (row) =>
      row.keyId !== revokedKeyId &&
      row.revokedAtMs === undefined &&
      row.activatesAtMs <= nowMs &&
      (row.retiresAtMs === undefined || row.retiresAtMs > nowMs),
  )
}
