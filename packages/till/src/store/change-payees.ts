import { canonicalJson } from '@assay/protocol/canonical-json'
import { writeAudit } from './audit-log.ts'
import type { Database } from './database.ts'
import { StoreError } from './errors.ts'

export type PayeesChange = { before: Record<string, string>; after: Record<string, string> }

/**
 * Records that the node is paid at other addresses from its next start on. The old ones stay its own: they are compared
 * with the chain, and what arrives there is posted. Undefined when nothing changes.
 */
export async function changePayees(
  database: Database,
  payees: Readonly<Record<string, string>>,
  by: { actor: string; reason: string },
): Promise<PayeesChange | undefined> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ payees: Record<string, string> }>('select payees from instance for update')
    const before = rows[0]?.payees
    if (!before) throw new StoreError('this database has no instance yet: start the node once')
    const unknown = Object.keys(before).filter((name) => payees[name] === undefined)
    if (unknown.length > 0) throw new StoreError(`the configuration has no ${unknown.join(', ')}`)
    if (canonicalJson(before) === canonicalJson(payees)) return undefined
    await tx.query(`select set_config('assay.change_payees', 'on', true)`)
    await tx.query('update instance set payees = $1', [canonicalJson(payees)])
    await writeAudit(tx, {
      actor: by.actor,
      action: 'instance.payees',
      subject: 'payees',
      details: { before, after: { ...payees }, reason: by.reason },
    })
    return { before, after: { ...payees } }
  })
}
