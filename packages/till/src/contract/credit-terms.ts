import { chainOfAsset } from '@assay/protocol/asset'
import type { PaidRoute } from './paid-call.ts'
import type { Terms } from './terms.ts'

/** Names the mandate under which a signed request draws on the credit of somebody else. */
export const mandateHeader = 'assay-mandate'

/** As long as a signed request may be valid. */
const proofSeconds = 60

/** What the route sells is credit of its payer. */
export const addsCredit = (route: Pick<PaidRoute, 'consumption'>): boolean => route.consumption === 'credit'

/** Credit does not buy credit. */
export const takesCredit = (route: Pick<PaidRoute, 'consumption'>): boolean => !addsCredit(route)

/**
 * The entry of `accepts` behind those that move money: the request itself is signed, and its price is drawn from what the
 * wallet paid in before. Stock clients do not know the scheme and pass it over. Kept short, as the header has little
 * room: no token moves and nobody is paid on chain, so the unit and a role take the place of addresses.
 */
export function creditRequirements(terms: Terms): Record<string, unknown> {
  return {
    scheme: 'credit',
    network: chainOfAsset(terms.network.caip2),
    amount: terms.amountMicro.toString(),
    asset: 'USDC',
    payTo: 'node',
    maxTimeoutSeconds: proofSeconds,
    extra: { proof: 'erc8128' },
  }
}
