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
  const { database, clock, rng, keyring, statementLog } = deps
  const { purpose } = keyring
  await keyring.refresh()
  const target = keyring.keys().find((row) => row.keyId === options.keyId)
  if (target === undefined) throw new Problem('not_found', { detail: 'The keyring has no such key.' })
  if (options.revokedAtMs > clock.nowMs())
    throw new Problem('input_invalid', { detail: 'A revocation cannot be in the future; rotate the key instead.' })

  const revocation = await signedStatement(
    deps,
    await statementFor(deps, 'revoke', target, {
      notBeforeMs: target.activatesAtMs,
      notAfterMs: options.revokedAtMs,
    }),
  )
  const secrets = createPrivateKeyStore(database, deps.keyFile)
  const replacement = needsReplacement(keyring.keys(), options.keyId, clock.nowMs())
    ? await secrets.next(rng, (keyId) => keyring.keys().some((row) => row.keyId === keyId))
    : undefined
  const nowMs = clock.nowMs()
  const addition =
    replacement && (await signedStatement(deps, await statementFor(deps, 'add', replacement, { notBeforeMs: nowMs })))
  if (replacement) await secrets.addBefore(replacement)
  await database.transaction(async (tx) => {
    await lockKeyring(tx)
    await markRevoked(tx, options.keyId, options.revokedAtMs)
    await insertStatement(tx, revocation, nowMs, statementLog)
    if (replacement && addition) {
      await insertKey(tx, purpose, replacement, nowMs, nowMs)
      await secrets.addWith(tx, replacement)
      await retireKeysBefore(tx, purpose, replacement.keyId, nowMs)
      await insertStatement(tx, addition, nowMs, statementLog)
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
      // One that is being replaced stops soon: it cannot go on alone.
      row.retiresAtMs === undefined,
  )
}
