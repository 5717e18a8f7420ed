import type { Clock } from '../kernel/clock.ts'
import type { Rng } from '../kernel/random.ts'
import type { Database, Sql, Tx } from '../store/database.ts'
import type { KeyStatementMessage, KeyStatementRecord } from './key-statement.ts'
import type { PrivateKeyStore } from './private-keys.ts'
import { generateSigningKey, type PublicSigningKey } from './signing-key.ts'

export type KeyringRow = PublicSigningKey & {
  createdAtMs: number
  activatesAtMs: number
  /** Signatures made later are not valid. */
  retiresAtMs: number | undefined
  revokedAtMs: number | undefined
}

export const keyringChannel = 'keyring'

/** Any constant: every change of the keyring waits for the one before it. */
const keyringLock = 0x6b657972

export async function lockKeyring(tx: Tx): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [keyringLock])
}

export async function readKeyring(sql: Sql): Promise<{ rows: KeyringRow[]; statements: KeyStatementRecord[] }> {
  const keys = await sql.query<{
    key_id: string
    public_x: string
    created_at: Date
    activates_at: Date
    retires_at: Date | null
    revoked_at: Date | null
  }>('select * from keyring order by activates_at, key_id')
  const statements = await sql.query<{
    message: KeyStatementMessage
    chain_id: bigint
    wallet: `0x${string}`
    wallet_signature: `0x${string}`
    predecessor_key_id: string | null
    predecessor_signature: string | null
  }>('select * from key_statement order by statement_id')
  return {
    rows: keys.rows.map((row) => ({
      keyId: row.key_id,
      x: row.public_x,
      createdAtMs: row.created_at.getTime(),
      activatesAtMs: row.activates_at.getTime(),
      retiresAtMs: row.retires_at?.getTime(),
      revokedAtMs: row.revoked_at?.getTime(),
    })),
    statements: statements.rows.map((row) => ({
      message: row.message,
      chainId: Number(row.chain_id),
      wallet: row.wallet,
      walletSignature: row.wallet_signature,
      ...(row.predecessor_key_id === null || row.predecessor_signature === null
        ? {}
        : { predecessor: { keyId: row.predecessor_key_id, signature: row.predecessor_signature } }),
    })),
  }
}

export async function insertKey(tx: Tx, key: PublicSigningKey, nowMs: number, activatesAtMs: number): Promise<void> {
  await tx.query('insert into keyring (key_id, public_x, created_at, activates_at) values ($1, $2, $3, $4)', [
    key.keyId,
    key.x,
    new Date(nowMs),
    new Date(activatesAtMs),
  ])
}

export async function insertStatement(tx: Tx, record: KeyStatementRecord, nowMs: number): Promise<void> {
  await tx.query(
    `insert into key_statement (key_id, action, message, chain_id, wallet, wallet_signature, predecessor_key_id, predecessor_signature, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      record.message.keyId,
      record.message.action,
      JSON.stringify(record.message),
      record.chainId,
      record.wallet,
      record.walletSignature,
      record.predecessor?.keyId ?? null,
      record.predecessor?.signature ?? null,
      new Date(nowMs),
    ],
  )
}

export async function retireKeysBefore(tx: Tx, keyId: string, retiresAtMs: number): Promise<void> {
  await tx.query(
    'update keyring set retires_at = greatest($2, activates_at) where key_id <> $1 and retires_at is null',
    [keyId, new Date(retiresAtMs)],
  )
}

export async function markRevoked(tx: Tx, keyId: string, revokedAtMs: number): Promise<void> {
  await tx.query('update keyring set revoked_at = least(coalesce(revoked_at, $2), $2) where key_id = $1', [
    keyId,
    new Date(revokedAtMs),
  ])
}

/** Other processes hear of it when the transaction commits. */
export async function announceKeyring(tx: Tx): Promise<void> {
  await tx.query('select pg_notify($1, $2)', [keyringChannel, 'changed'])
}

/** A node without keys publishes its first one: the newest of the operator's file, or a fresh one in demo mode. */
export async function storeFirstKey(
  database: Database,
  secrets: PrivateKeyStore,
  clock: Clock,
  rng: Rng,
): Promise<void> {
  const given = secrets.kind === 'file' ? (await secrets.load()).at(-1) : undefined
  await database.transaction(async (tx) => {
    await lockKeyring(tx)
    const { rows } = await tx.query('select 1 from keyring limit 1')
    if (rows.length > 0) return
    const key = given ?? generateSigningKey(rng)
    const nowMs = clock.nowMs()
    await insertKey(tx, key, nowMs, nowMs)
    await secrets.addWith(tx, key)
  })
}
