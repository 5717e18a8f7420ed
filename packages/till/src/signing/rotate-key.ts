import type { Address } from '@assay/protocol/address'
import {
  type KeyPurpose,
  type KeyStatement,
  type KeyStatementMessage,
  keyStatementTypedData,
  predecessorBytes,
} from '@assay/protocol/keys/key-statement'
import type { Clock } from '../kernel/clock.ts'
import { Problem } from '../kernel/problem.ts'
import type { Rng } from '../kernel/random.ts'
import type { Database } from '../store/database.ts'
import { type StatementChecker, type StatementWallet, verifyKeyStatement } from './key-statement.ts'
import type { Keyring, KeyringIdentity } from './keyring.ts'
import {
  announceKeyring,
  insertKey,
  insertStatement,
  lockKeyring,
  readKeyring,
  retireKeysBefore,
} from './keyring-store.ts'
import { createPrivateKeyStore, type KeyPlace } from './private-keys.ts'
import { type PublicSigningKey, signEd25519 } from './signing-key.ts'
import type { StatementLog } from './statement-log.ts'

export type KeyChangeDeps = {
  database: Database
  clock: Clock
  rng: Rng
  keyring: Keyring
  identity: KeyringIdentity
  wallet: StatementWallet
  statementLog: StatementLog
  /** The same as the keyring's. */
  keyFile?: KeyPlace
  checkContract?: StatementChecker
}

export const defaultOverlapMs = 600_000
/** A process that hears late of the switch still signs with the old key this long. */
const retireGraceMs = 60_000

/**
 * Publishes a new key, vouched for by the old one and by the operator's wallet. A key for answers is published before it is
 * used. A key of the log is used at once and beside the old one, so that a witness that knows only that one still signs.
 */
export async function rotateKey(
  deps: KeyChangeDeps,
  options: { overlapMs?: number } = {},
): Promise<{ keyId: string; activatesAtMs: number }> {
  const { database, clock, rng, keyring, identity } = deps
  const secrets = createPrivateKeyStore(database, deps.keyFile)
  const key = await secrets.next(rng, (keyId) => keyring.keys().some((row) => row.keyId === keyId))
  const { purpose } = keyring
  const times = rotationTimes(purpose, clock.nowMs(), options.overlapMs)
  const { activatesAtMs } = times
  const old = keyring.active()
  const message = {
    ...(await statementFor(deps, 'rotate', key, { notBeforeMs: activatesAtMs })),
    predecessor: old.keyId,
    predecessorUntil: Math.floor(times.retiresAtMs / 1000),
  }
  const signature = signEd25519(old, predecessorBytes(message, identity.chainId)).toString('base64url')
  const record = await signedStatement(deps, message, signature)
  await secrets.addBefore(key)
  await database.transaction(async (tx) => {
    await lockKeyring(tx)
    const nowMs = clock.nowMs()
    const { rows } = await readKeyring(tx, purpose)
    if (rows.some((row) => row.activatesAtMs > nowMs))
      throw new Problem('bad_request', { detail: 'A rotation is already under way; wait until its key is in use.' })
    if (rows.find((row) => row.keyId === old.keyId)?.revokedAtMs !== undefined)
      throw new Problem('bad_request', { detail: 'The key in use was revoked meanwhile; rotate again.' })
    await insertKey(tx, purpose, key, nowMs, activatesAtMs)
    await secrets.addWith(tx, key)
    await retireKeysBefore(tx, purpose, key.keyId, times.retiresAtMs)
    await insertStatement(tx, record, nowMs, deps.statementLog)
    await announceKeyring(tx)
  })
  await keyring.refresh()
  return { keyId: key.keyId, activatesAtMs }
}

export const logOverlapMs = 7 * 86_400_000

function rotationTimes(purpose: KeyPurpose, nowMs: number, overlapMs: number | undefined) {
  if (purpose === 'log') return { activatesAtMs: nowMs, retiresAtMs: nowMs + (overlapMs ?? logOverlapMs) }
  const activatesAtMs = nowMs + (overlapMs ?? defaultOverlapMs)
  return { activatesAtMs, retiresAtMs: activatesAtMs + retireGraceMs }
}

export async function statementFor(
  deps: KeyChangeDeps,
  action: KeyStatementMessage['action'],
  key: PublicSigningKey,
  times: { notBeforeMs: number; notAfterMs?: number },
): Promise<KeyStatementMessage> {
  const { identity, keyring } = deps
  const { purpose } = keyring
  return {
    action,
    purpose,
    keyId: key.keyId,
    publicKey: key.x,
    notBefore: Math.floor(times.notBeforeMs / 1000),
    notAfter: Math.floor((times.notAfterMs ?? 0) / 1000),
    node: identity.node,
    api: identity.api,
    ...(purpose === 'log' ? await logPosition(deps) : { origin: '', treeSize: 0 }),
    operator: identity.operator.toLowerCase() as Address,
    predecessor: '',
    predecessorUntil: 0,
  }
}

/** The log that the key is for, and how far it has grown. */
async function logPosition({ database, statementLog }: KeyChangeDeps) {
  const { origin, size } = await statementLog.position(database)
  if (!origin) throw new Problem('bad_request', { detail: 'The log has no name yet: start the node once.' })
  return { origin, treeSize: size }
}

/** Asks the wallet, and checks what it gave before anything is stored. */
export async function signedStatement(
  deps: KeyChangeDeps,
  message: KeyStatementMessage,
  predecessorSignature: string | null = null,
): Promise<KeyStatement> {
  const { identity, wallet, keyring } = deps
  const signature = await wallet.signTypedData(keyStatementTypedData(message, identity.chainId))
  const record: KeyStatement = {
    message,
    chainId: identity.chainId,
    walletSignature: signature.toLowerCase(),
    predecessorSignature,
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
