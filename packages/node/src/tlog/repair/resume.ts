import { writeAudit } from '@assay/till/store/audit-log'
import type { Database } from '@assay/till/store/database'
import { lockTree } from '../store.ts'

/** After a restore or a start, when nobody outside can be asked: the operator answers for it. A known fork stays one. */
export async function resumeLog(
  database: Database,
  by: { actor: string; reason: string },
): Promise<{ resumed: boolean }> {
  return database.transaction(async (tx) => {
    const { forkReason, origin } = await lockTree(tx)
    if (forkReason !== null) return { resumed: false }
    await tx.query('update log_tree set checked_at = clock_timestamp()')
    await writeAudit(tx, {
      actor: by.actor,
      action: 'log.resume',
      subject: origin ?? 'log',
      details: { reason: by.reason },
    })
    return { resumed: true }
  })
}
