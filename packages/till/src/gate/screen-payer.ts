import type { Address } from '@assay/protocol/address'
import { Problem } from '../kernel/problem.ts'
import { ScreeningUnavailable } from '../screening/index.ts'
import type { GateDeps } from './gate-deps.ts'

/** Why nothing is sold to this account, or undefined. While a list cannot be read, nothing is sold to anybody. */
export async function screenPayer(
  { screening, metrics }: Pick<GateDeps, 'screening' | 'metrics'>,
  payer: Address,
): Promise<Problem | undefined> {
  try {
    const hit = await screening?.find(payer)
    if (!hit) return undefined
    metrics.count('screening_hits', { source: hit.source, what: 'payer' })
    return new Problem('payer_refused', { extra: { reason: hit.reason } })
  } catch (error) {
    if (!(error instanceof ScreeningUnavailable)) throw error
    return new Problem('settlement_unavailable', { detail: 'The payer could not be screened.', retryAfterSeconds: 30 })
  }
}
