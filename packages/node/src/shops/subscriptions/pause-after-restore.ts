import { setPause } from '@assay/till/store/pauses'
import type { ShopContext } from '../shop.ts'

const name = 'renewals'

/**
 * What a wallet cancelled after a backup is not cancelled in the restored database, and no chain knows of it. So a restore
 * pauses renewals; until the operator vouches for them (`assay resume renewals`), only those go on that their wallet asked
 * for after it. `all` wait where the operator paused them.
 */
export async function pauseAfterRestore({
  database,
  log,
}: Pick<ShopContext, 'database' | 'log'>): Promise<'all' | 'unconfirmed' | undefined> {
  const { rows } = await database.query<{ paused: boolean; by: string; restored: boolean; again: boolean }>(
    `select p.paused, p.changed_by as by, coalesce(g.at is not null, false) as restored, coalesce(g.at >= p.changed_at, false) as again
     from pause p, (select max(greatest(detected_at, noticed_at)) as at from restore_gap) g where p.name = $1`,
    [name],
  )
  const state = rows[0]
  if (!state || (state.paused && state.by !== 'node')) return 'all'
  if (!state.restored || (!state.paused && !state.again)) return undefined
  if (!state.paused) {
    const reason = 'the database was restored: what was cancelled since the backup is not known'
    await setPause(database, { name, paused: true, reason, by: 'node' })
    log.error({}, 'the database was restored: only renewals go on that their wallet asked for since')
  }
  return 'unconfirmed'
}
