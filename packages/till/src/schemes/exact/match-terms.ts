import { parseMicro } from '@assay/protocol/money'
import { type Offers, offeredRequest } from '../../contract/offers.ts'
import type { PaidCall } from '../../contract/paid-call.ts'
import type { Terms } from '../../contract/terms.ts'
import type { DecodedPayment } from './decode-payment.ts'

export type MatchOutcome = { status: 'ok'; terms: Terms } | { status: 'refused'; reason: string; detail: string }

const refused = (reason: string, detail: string): MatchOutcome => ({ status: 'refused', reason, detail })

/**
 * Finds the terms of ours that a payment satisfies: the current ones, or those of an offer we signed that still stands.
 * What the client wrote in `accepted` only selects; the authorization itself is compared with our own terms.
 */
export function matchTerms(
  call: PaidCall,
  payment: DecodedPayment,
  current: readonly Terms[],
  offers: Offers,
): MatchOutcome {
  const onNetwork = current.find((terms) => terms.network.caip2 === payment.network)
  if (!onNetwork) {
    const taken = current.map((terms) => terms.network.caip2).join(', ')
    return refused('invalid_network', `Not taken on ${payment.network.slice(0, 64)}; pay on ${taken}.`)
  }
  if (payment.asset !== onNetwork.asset)
    return refused('invalid_exact_evm_asset_mismatch', `The asset must be ${onNetwork.asset}.`)
  const { authorization } = payment
  if (payment.payTo !== onNetwork.payTo || authorization.to !== onNetwork.payTo)
    return refused('invalid_exact_evm_payload_recipient_mismatch', `The recipient must be ${onNetwork.payTo}.`)
  const terms = withAmount(call, payment, onNetwork, offers)
  if (!terms)
    return refused(
      'invalid_exact_evm_payload_authorization_value_mismatch',
      `The value must be exactly ${onNetwork.amountMicro}, in atomic units of USDC (6 decimals).`,
    )
  return { status: 'ok', terms }
}

function withAmount(call: PaidCall, payment: DecodedPayment, current: Terms, offers: Offers): Terms | undefined {
  const accepted = parseMicro(payment.amount)
  if (accepted === undefined || payment.authorization.value !== accepted) return undefined
  if (accepted === current.amountMicro) return current
  for (const signed of payment.offers) {
    const offer = offers.honour(signed)
    const standsFor =
      offer !== undefined &&
      offer.amountMicro === accepted &&
      offer.resourceUrl === call.resourceUrl &&
      offer.request === offeredRequest(call) &&
      offer.network === current.network.caip2 &&
      offer.asset === current.asset &&
      offer.payTo === current.payTo
    if (standsFor) return { ...current, amountMicro: accepted }
  }
  return undefined
}
