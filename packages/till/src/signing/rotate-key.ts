import type { Clock } from '../kernel/clock.ts'
import { Problem } from '../kernel/problem.ts'
import type { Rng } from '../kernel/random.ts'
import type { Database } from '../store/database.ts'
import {
  type KeyStatementMessage,
  type KeyStatementRecord,
  keyStatementTypedData,
  predecessorBytes,
  type StatementChecker,
  type StatementWallet,
  verifyKeyStatement,
} from './key-statement.ts'
import type { Keyring, KeyringIdentity } from './keyring.ts'
import {
  announceKeyring,
  insertKey,
  insertStatement,
  lockKeyring,
  readKeyring,
  retireKeysBefore,
} from './keyring-store.ts'
import { createPrivateKeyStore } from './private-keys.ts'
import { generateSigningKey, type PublicSigningKey, signEd25519 } from './signing-key.ts'

export type KeyChangeDeps = {
  database: Database
  clock: Clock
  rng: Rng
  keyring: Keyring
  identity: KeyringIdentity
  wallet: StatementWallet
  /** The same as the keyring's. */
  keyFile?: string
  checkContract?: StatementChecker
}

export const defaultOverlapMs = 600_000
/** A process that hears late of the switch still signs with the old key this long. */
const retireGraceMs = 60_000

/** Publishes a new key, vouched for by the old one and by the operator's wallet, before it is used. */
export async function rotateKey(
  deps: KeyChangeDeps,
  options: { overlapMs?: number } = {},
): Promise<{ keyId: string; activatesAtMs: number }> {
  const { database, clock, rng, keyring, identity } = deps
  const secrets = createPrivateKeyStore(database, deps.keyFile)
  const key = generateSigningKey(rng)
  const activatesAtMs = clock.nowMs() + (options.overlapMs ?? defaultOverlapMs)
  const old = keyring.active()
  const message = statementFor(identity, 'rotate', key, activatesAtMs, 0)
  const signature = signEd25519(old, predecessorBytes(message, identity.chainId)).toString('base64url')
  const record = await signedStatement(deps, message, { keyId: old.keyId, signature })
  await secrets.addBefore(key)
  await database.transaction(async (tx) => {
    await lockKeyring(tx)
    const nowMs = clock.nowMs()
    const { rows } = await readKeyring(tx)
    if (rows.some((row) => row.activatesAtMs > nowMs))
      throw new Problem('bad_request', { detail: 'A rotation is already under way; wait until its key is in use.' })
    if (rows.find((row) => row.keyId === old.keyId)?.revokedAtMs !== undefined)
      throw new Problem('bad_request', { detail: 'The key in use was revoked meanwhile; rotate again.' })
    await insertKey(tx, key, nowMs, activatesAtMs)
    await secrets.addWith(tx, key)
    await retireKeysBefore(tx, key.keyId, activatesAtMs + retireGraceMs)
    await insertStatement(tx, record, nowMs)
    await announceKeyring(tx)
  })
  await keyring.refresh()
  return { keyId: key.keyId, activatesAtMs }
}

export function statementFor(
  identity: KeyringIdentity,
  action: KeyStatementMessage['action'],
  key: PublicSigningKey,
  notBeforeMs: number,
  notAfterMs: number,
): KeyStatementMessage {
  return {
    action,
    keyId: key.keyId,
    publicKey: key.x,
    notBefore: Math.floor(notBeforeMs / 1000),
    notAfter: Math.floor(notAfterMs / 1000),
    node: identity.node,
  }
}

/** Asks the wallet, and checks what it gave before anything is stored. */
export async function signedStatement(
  deps: KeyChangeDeps,
  message: KeyStatementMessage,
  predecessor?: KeyStatementRecord['predecessor'],
): Promise<KeyStatementRecord> {
  const { identity, wallet, keyring } = deps
  const record: KeyStatementRecord = {
    message,
    chainId: identity.chainId,
    wallet: identity.operator,
    walletSignature: await wallet.signTypedData(keyStatementTypedData(message, identity.chainId)),
    ...(predecessor === undefined ? {} : { predecessor }),
  }
  const valid = await verifyKeyStatement(record, {
    node: identity.node,
    operator: identity.operator,
    publicKeyOf: (keyId) => keyring.keys().find((row) => row.keyId === keyId)?.x,
    ...(deps.checkContract === undefined ? {} : { checkContract: deps.checkContract }),
  })
  if (!valid)
    throw new Problem('proof_invalid', { detail: `The statement is not signed by the operator ${identity.operator}.` })
  return record
}
