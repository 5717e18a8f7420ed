import { writeAudit } from '@assay/till/store/audit-log'
import type { Database } from '@assay/till/store/database'
import { pageChangeLock } from '../pages/page-changes.ts'
import { lockSource, type SourceState } from './records.ts'

export type RefusalInput = { domain: string; reason: string; actor: string }

/** The operator takes a harmful domain out (undefined: not registered here): score 0, no new claims, payouts held, its pages no longer offered. */
export async function refuseSource(database: Database, input: RefusalInput): Promise<SourceState | undefined> {
  return changeState(database, input, 'source.refuse', () => 'refused')
}

/** Back to where its claims put it. */
export async function admitSource(database: Database, input: RefusalInput): Promise<SourceState | undefined> {
  return changeState(database, input, 'source.admit', (proven) => (proven ? 'proven' : 'registered'))
}

async function changeState(
  database: Database,
  { domain, reason, actor }: RefusalInput,
  action: string,
  next: (proven: boolean) => SourceState,
): Promise<SourceState | undefined> {
  return database.transaction(async (tx) => {
    const source = await lockSource(tx, domain)
    if (!source) return undefined
    const state = next(source.proven_claim !== null)
    if ((source.state === 'refused') === (state === 'refused')) return source.state
    await tx.query(
      `update source set state = $2, state_reason = $3, updated_at = now(), score_wanted_at = coalesce(score_wanted_at, now()) where domain = $1`,
      [domain, state, reason],
    )
    // Readers of pages learn of it as of any change; the lock comes before the numbers.
    await tx.query(`select pg_advisory_xact_lock_shared(${pageChangeLock})`)
    await tx.query(
      `update crawl_page set change_seq = nextval('page_change') where domain = $1 and facts is not null`,
      [domain],
    )
    // A proof that is pending or missing shows at the next check, which is now.
    await tx.query(`update source_claim set next_check_at = now() where domain = $1 and state = 'proven'`, [domain])
    await writeAudit(tx, { actor, action, subject: domain, details: { reason } })
    return state
  })
}
