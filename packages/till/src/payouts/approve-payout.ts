import { writeAudit } from '../store/audit-log.ts'
import type { Database } from '../store/database.ts'

export type ApproveOutcome = 'approved' | 'not_found' | 'nothing_to_approve'

/** A person lets a payout go on: one that waited for approval, or one whose payee was blocked. */
export async function approvePayout(database: Database, id: string, by: string): Promise<ApproveOutcome> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ state: string; network: string; payee: string }>(
      `select state, network, payee from payout where id = $1 for update`,
      [id],
    )
    const row = rows[0]
    if (!row) return 'not_found'
    const next = { waiting: 'queued', parked: 'signed' }[row.state]
    const released = await tx.query(`delete from payout_hold where network = $1 and payee = $2`, [
      row.network,
      row.payee,
    ])
    if (next === undefined && released.rowCount === 0) return 'nothing_to_approve'
    if (next !== undefined)
      await tx.query(`update payout set state = $2, approved_by = $3, reason = null where id = $1`, [id, next, by])
    await writeAudit(tx, { actor: by, action: 'payout.approve', subject: id, details: { was: row.state } })
    return 'approved'
  })
}
