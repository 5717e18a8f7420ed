import { followKeys, type KeyAnchor } from '@assay/protocol/keys/follow-keys'
import { type KeyStatement, publishedStatement, readStatements } from '@assay/protocol/keys/key-statement'
import type { Tx } from '../store/database.ts'
import {
  announceKeyring,
  insertKey,
  insertStatementRow,
  lockKeyring,
  markRevoked,
  readKeyring,
  retireKeysBefore,
} from './keyring-store.ts'

/**
 * Statements about keys that came back with the leaves of a log. A restored database has lost them, and would sign
 * again with a key that was retired or revoked since the backup. Counts those that now hold again.
 */
export async function restoreStatements(
  tx: Tx,
  published: readonly unknown[],
  { operators, nowMs }: { operators: readonly string[]; nowMs: number },
): Promise<number> {
  await lockKeyring(tx)
  const response = await readKeyring(tx, 'response')
  const log = await readKeyring(tx, 'log')
  const known = response.statements
  const same = new Set(known.map((statement) => JSON.stringify(publishedStatement(statement))))
  const lost = readStatements(published)
    .map(({ statement }) => statement)
    .filter((statement) => !same.has(JSON.stringify(publishedStatement(statement))))
  const anchors: KeyAnchor[] = [
    ...response.rows.map(({ keyId, x }) => ({ keyId, x, purpose: 'response' as const })),
    ...log.rows.map(({ keyId, x }) => ({ keyId, x, purpose: 'log' as const })),
  ]
  const trust = { keys: anchors, wallets: operators, revokedBy: 'trusted' as const }
  const { accepted } = await followKeys([...known, ...lost], trust)
  const held = new Set(anchors.map(({ keyId }) => keyId))
  const restored = lost.filter((statement) => accepted.has(statement))
  for (const statement of restored) await applyAgain(tx, statement, held, nowMs)
  if (restored.length > 0) await announceKeyring(tx)
  return restored.length
}

async function applyAgain(tx: Tx, statement: KeyStatement, held: Set<string>, nowMs: number): Promise<void> {
  const { action, purpose, keyId, publicKey: x, notBefore, notAfter, predecessorUntil } = statement.message
  if (!held.has(keyId)) await insertKey(tx, purpose, { keyId, x }, nowMs, notBefore * 1000)
  held.add(keyId)
  if (action === 'revoke') await markRevoked(tx, keyId, notAfter * 1000)
  else await retireKeysBefore(tx, purpose, keyId, (predecessorUntil || notBefore) * 1000)
  await insertStatementRow(tx, statement, nowMs)
}
