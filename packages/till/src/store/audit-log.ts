import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import type { Sql, Tx } from './database.ts'

export type AuditEntry = { actor: string; action: string; subject: string; details: Json }

/** In the transaction of what is done, so that nothing happens unrecorded. The database numbers and chains the row. */
export async function writeAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  await tx.query('insert into audit_log (actor, action, subject, details) values ($1, $2, $3, $4)', [
    entry.actor,
    entry.action,
    entry.subject,
    canonicalJson(entry.details),
  ])
}

/** The first row whose hash or link does not fit, or undefined. */
export async function verifyAudit(sql: Sql): Promise<{ id: bigint } | undefined> {
  const { rows } = await sql.query<{ id: bigint }>(
    `select id from (
       select id, hash, previous_hash, audit_hash(a.*) as right_hash,
         lag(hash, 1, decode(repeat('00', 32), 'hex')) over (order by id) as right_previous,
         row_number() over (order by id) as right_id
       from audit_log a) checked
     where hash <> right_hash or previous_hash <> right_previous or id <> right_id
     order by id limit 1`,
  )
  return rows[0]
}

export type AuditRow = AuditEntry & { id: bigint; happenedAt: Date; hash: Buffer }

/** Newest first. */
export async function readAudit(sql: Sql, page: { limit: number; beforeId?: bigint }): Promise<AuditRow[]> {
  const { rows } = await sql.query<AuditRow>(
    `select id, happened_at as "happenedAt", actor, action, subject, details, hash from audit_log
     where $1::bigint is null or id < $1 order by id desc limit $2`,
    [page.beforeId ?? null, page.limit],
  )
  return rows
}
