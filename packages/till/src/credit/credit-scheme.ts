import { creditRequirements, takesCredit } from '../contract/credit-terms.ts'
import type { EntitledScheme } from '../contract/entitled-scheme.ts'
import type { EntitlementPort } from '../contract/entitlement.ts'
import { Problem } from '../kernel/problem.ts'
import { acceptSignature } from '../proofs/index.ts'
import { resourceMismatch } from '../schemes/match-offer.ts'

/**
 * A payment of scheme `credit` names the price its sender agreed to, and the signature of the request proves who that is.
 * So a price that rose meanwhile is never drawn.
 */
export const createCreditScheme = (credit: EntitlementPort): EntitledScheme => ({
  name: 'credit',
  supports: () => true,
  isOffered: takesCredit,
  requirements: creditRequirements,
  extension: { info: { proof: 'erc8128' }, schema: { type: 'object' } },
  async pass(call, envelope, sales) {
    const invalid = (reason: string, detail: string) =>
      sales.refuse402({ reason, detail, payer: '', network: envelope.network })
    if (!takesCredit(call.route)) return invalid('unsupported_scheme', 'Credit does not buy credit.')
    const mismatch = resourceMismatch(envelope, call)
    if (mismatch) throw mismatch
    if (!credit.claims(call.headers))
      throw new Problem('proof_required', {
        detail: 'Scheme credit needs the request itself to be signed.',
        headers: { 'accept-signature': acceptSignature },
      })
    if (envelope.amount === call.priceMicro.toString()) return sales.sellBy(credit)
    // A 402 asks to pay again, and this may be a call that was paid for before the price moved.
    const earlier = await sales.earlier(credit)
    const price = `The price is ${call.priceMicro}, in atomic units of USDC (6 decimals).`
    return earlier ?? invalid('invalid_credit_amount', price)
  },
})
