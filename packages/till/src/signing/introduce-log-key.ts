import { zeroAddress } from '@assay/protocol/address'
import { type KeyStatementMessage, predecessorBytes } from '@assay/protocol/keys/key-statement'
import type { Database } from '../store/database.ts'
import type { Keyring, KeyringIdentity } from './keyring.ts'
import { announceKeyring, insertStatement, lockKeyring } from './keyring-store.ts'
import { signEd25519 } from './signing-key.ts'
import type { StatementLog } from './statement-log.ts'

/**
 * The key with which a log begins is named by the key that signs answers: anyone who trusts that one finds the log from it.
 * Later keys of the log are named by earlier ones or by the operator's wallet. A log that begins again under another name
 * keeps its key, and needs the word for that name.
 */
export async function introduceLogKey(
  deps: {
    database: Database
    logKeyring: Keyring
    keyring: Keyring
    identity: Omit<KeyringIdentity, 'operator'>
    statementLog: StatementLog
  },
  origin: string,
): Promise<void> {
  const { database, logKeyring, keyring, identity } = deps
  const isNamed = logKeyring.statements().some(({ message }) => message.purpose === 'log' && message.origin === origin)
  const [signer] = logKeyring.signers()
  const first = logKeyring.keys().find(({ keyId }) => keyId === signer?.keyId) ?? logKeyring.keys()[0]
  if (isNamed || !first) return
  const active = keyring.active()
  const message: KeyStatementMessage = {
    action: 'add',
    purpose: 'log',
    keyId: first.keyId,
    publicKey: first.x,
    notBefore: Math.floor(first.activatesAtMs / 1000),
    notAfter: 0,
    node: identity.node,
    api: identity.api,
    origin,
    treeSize: 0,
    operator: zeroAddress,
    predecessor: active.keyId,
    predecessorUntil: 0,
  }
  const signature = signEd25519(active, predecessorBytes(message, identity.chainId)).toString('base64url')
  await database.transaction(async (tx) => {
    await lockKeyring(tx)
    // Another process may have been faster.
    const { rowCount } = await tx.query(
      `select from key_statement where message ->> 'purpose' = 'log' and message ->> 'origin' = $1`,
      [origin],
    )
    if (rowCount > 0) return
    const record = { message, chainId: identity.chainId, walletSignature: null, predecessorSignature: signature }
    await insertStatement(tx, record, first.activatesAtMs, deps.statementLog)
    await announceKeyring(tx)
  })
  await Promise.all([logKeyring.refresh(), keyring.refresh()])
}
