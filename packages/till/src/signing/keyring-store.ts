import { canonicalJson } from '@assay/protocol/canonical-json'
import {
  type KeyPurpose,
  type KeyStatement,
  type KeyStatementMessage,
  publishedStatement,
} from '@assay/protocol/keys/key-statement'
import type { Clock } from '../kernel/clock.ts'
import type { Rng } from '../kernel/random.ts'
import type { Database, Sql, Tx } from '../store/database.ts'
import type { PrivateKeyStore } from './private-keys.ts'
import { generateSigningKey, type PublicSigningKey } from './signing-key.ts'
import type { StatementLog } from './statement-log.ts'

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

/** The keys of one purpose, and all statements: verifiers need those about both together. */
export async function readKeyring(
  sql: Sql,
  purpose: KeyPurpose,
): Promise<{ rows: KeyringRow[]; statements: KeyStatement[] }> {
  const keys = await sql.query<{
    key_id: string
    public_x: string
    created_at: Date
    activates_at: Date
    retires_at: Date | null
    revoked_at: Date | null
  }>('select * from keyring where purpose = $1 order by activates_at, key_id', [purpose])
  const statements = await sql.query<{
    message: KeyStatementMessage
    chain_id: bigint
    wallet_signature: `0x${string}` | null
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
      walletSignature: row.wallet_signature,
      predecessorSignature: row.predecessor_signature,
    })),
  }
}

export async function insertKey(
  tx: Tx,
  purpose: KeyPurpose,
  key: PublicSigningKey,
  nowMs: number,
  activatesAtMs: number,
): Promise<void> {
  await tx.query(
    'insert into keyring (key_id, public_x, created_at, activates_at, purpose) values ($1, $2, $3, $4, $5)',
    [key.keyId, key.x, new Date(nowMs), new Date(activatesAtMs), purpose],
  )
}

/** A statement is also a leaf of the log: what was said about keys cannot be unsaid. */
export async function insertStatement(tx: Tx, record: KeyStatement, nowMs: number, log: StatementLog): Promise<void> {
  const id = await insertStatementRow(tx, record, nowMs)
  const entry = canonicalJson({ type: keyStatementEntry, ...publishedStatement(record) })
  const kind = record.message.purpose === 'log' ? 'log_key' : 'key_statement'
  await log.append(tx, [{ kind, subject: `key_statement:${id}`, entry: Buffer.from(entry) }])
}

/** Type of the entries of the log that are statements about keys. */
export const keyStatementEntry = 'assay.key_statement/v1'

export async function insertStatementRow(tx: Tx, record: KeyStatement, nowMs: number): Promise<bigint | undefined> {
  const { message, chainId, walletSignature, predecessorSignature } = record
  const { rows } = await tx.query<{ id: bigint }>(
    `insert into key_statement (key_id, action, message, chain_id, wallet, wallet_signature, predecessor_key_id, predecessor_signature, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning statement_id as id`,
    [
      message.keyId,
      message.action,
      JSON.stringify(message),
      chainId,
      message.operator,
      walletSignature,
      message.predecessor === '' ? null : message.predecessor,
      predecessorSignature,
      new Date(nowMs),
    ],
  )
  return rows[0]?.id
}

export async function retireKeysBefore(tx: Tx, purpose: KeyPurpose, keyId: string, retiresAtMs: number): Promise<void> {
  await tx.query(
    `update keyring set retires_at = greatest($2, activates_at)
     where purpose = $3 and key_id <> $1 and retires_at is null`,
    [keyId, new Date(retiresAtMs), purpose],
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

export const purposeText = { response: 'answers', log: 'the log' } as const

/** A node without keys publishes its first one: the newest of the operator's file, or a fresh one in demo mode. */
export async function storeFirstKey(
  database: Database,
  secrets: PrivateKeyStore,
  { clock, rng, purpose }: { clock: Clock; rng: Rng; purpose: KeyPurpose },
): Promise<void> {
  const given = secrets.kind === 'given' ? (await secrets.load()).at(-1) : undefined
  await database.transaction(async (tx) => {
    await lockKeyring(tx)
    const { rows } = await tx.query('select 1 from keyring where purpose = $1 limit 1', [purpose])
    if (rows.length > 0) return
    const key = given ?? generateSigningKey(rng)
    const { rowCount } = await tx.query('select from keyring where key_id = $1', [key.keyId])
    if (rowCount > 0) throw new Error(`the key for ${purposeText[purpose]} has another purpose already: make another`)
    const nowMs = clock.nowMs()
    await insertKey(tx, purpose, key, nowMs, nowMs)
    await secrets.addWith(tx, key)
  })
}
