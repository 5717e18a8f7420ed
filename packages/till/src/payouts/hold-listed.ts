import type { Address } from '@assay/protocol/address'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Screening } from '../screening/index.ts'
import type { Database } from '../store/database.ts'

export type HoldDeps = { database: Database; log: Log; metrics: Metrics; screening?: Screening }

/**
 * Freezes every account that is owed money and must not be paid: nothing more is collected, signed or sent for it, and
 * what is signed already stays here until it expires. Rejects when it is unknown who is listed.
 */
export async function holdListed({ database, log, metrics, screening }: HoldDeps, network: string): Promise<void> {
  if (!screening) return
  const { rows } = await database.query<{ payee: Address }>(
    `select distinct o.payee from (
       select payee from payout where network = $1 and state in ('waiting', 'queued', 'signed')
       union select a.owner from payout_due d join ledger_account a on a.id = d.account_id where a.network = $1) o
     where o.payee is not null and not exists (select from payout_hold h where h.network = $1 and h.payee = o.payee)`,
    [network],
  )
  for (const { payee } of rows) {
    const hit = await screening.find(payee)
    if (!hit) continue
    const { rowCount } = await database.query(
      `insert into payout_hold (network, payee, reason, held_by) values ($1, $2, $3, 'screening') on conflict do nothing`,
      [network, payee, hit.reason],
    )
    if (rowCount === 0) continue
    metrics.count('alarms', { alarm: 'account_frozen' })
    log.error({ network, payee, ...hit }, 'an account that is owed money is listed; nothing is sent to it')
  }
}
