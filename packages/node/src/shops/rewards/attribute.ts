import type { Address } from '@assay/protocol/address'

/** Why an attribution does not count; shown to anyone who asks. */
export type IgnoredReason = 'self' | 'own_payee' | 'cycle'

/** An affiliate or referrer that may count for this payer. Cycles are for the caller to find: they need the database. */
export function ignoredReason(
  candidate: Address,
  payer: Address,
  ownPayees: ReadonlySet<Address>,
): IgnoredReason | undefined {
  if (candidate === payer) return 'self'
  return ownPayees.has(candidate) ? 'own_payee' : undefined
}
