import type { Address } from '@assay/protocol/address'
import { Problem } from '../../kernel/problem.ts'
import { ScreeningUnavailable } from '../../screening/index.ts'
import type { ChannelDeps } from './channel-deps.ts'

/** Nothing is sent to an account that is listed, or held for payouts: what it paid in stays in its channel. */
export async function requireUnlisted(
  { database, screening, metrics, log }: ChannelDeps,
  network: string,
  payer: Address,
): Promise<void> {
  try {
    const hit = await screening?.find(payer)
    const held = await database.query(`select from payout_hold where network = $1 and payee = $2`, [network, payer])
    if (!hit && held.rowCount === 0) return
    if (hit) {
      metrics.count('screening_hits', { source: hit.source, what: 'refund' })
      metrics.count('alarms', { alarm: 'account_frozen' })
      log.error({ network, payer, ...hit }, 'a listed account asked for a refund of its channel; nothing is sent to it')
    }
    throw new Problem('payer_refused', { extra: { reason: hit?.reason ?? 'held' } })
  } catch (error) {
    if (!(error instanceof ScreeningUnavailable)) throw error
    throw new Problem('settlement_unavailable', { detail: 'The payer could not be screened.', retryAfterSeconds: 30 })
  }
}
