import type { Address } from '@assay/protocol/address'
import { chainOfAsset } from '@assay/protocol/asset'
import { parseMicro } from '@assay/protocol/money'
import { type Offers, offeredRequest } from '../contract/offers.ts'
import type { PaidCall } from '../contract/paid-call.ts'
import type { PaymentEnvelope } from '../contract/scheme.ts'
import type { Terms } from '../contract/terms.ts'
import { Problem } from '../kernel/problem.ts'
import { addressesNamed } from '../proofs/index.ts'

/** A payment may name what it is for; for anything else it buys nothing. */
export function resourceMismatch({ resourceUrl }: PaymentEnvelope, call: PaidCall): Problem | undefined {
  if (resourceUrl === undefined || resourceUrl === call.resourceUrl) return undefined
  return new Problem('payment_resource_mismatch', { detail: `The payment names ${resourceUrl.slice(0, 200)}.` })
}

/** A proof beside a payment adds nothing, but one that speaks for somebody else means that the caller is mistaken. */
export function payerMismatch(payer: Address, call: PaidCall): Problem | undefined {
  if (addressesNamed(call.headers).every((address) => address === payer)) return undefined
  return new Problem('forbidden', { detail: 'The payment and the proof name different accounts.' })
}

/** The terms for the amount that the client accepted: the current ones, or those of an offer we signed that is still valid. */
export function termsForAmount(
  envelope: PaymentEnvelope,
  call: PaidCall,
  current: Terms,
  offers: Offers,
): Terms | undefined {
  const accepted = parseMicro(envelope.amount)
  if (accepted === undefined) return undefined
  if (accepted === current.amountMicro) return current
  if (accepted === envelope.quotedMicro) return { ...current, amountMicro: accepted }
  for (const signed of envelope.offers) {
    const offer = offers.honour(signed)
    const isSame =
      offer !== undefined &&
      offer.scheme === envelope.scheme &&
      offer.amountMicro === accepted &&
      offer.resourceUrl === call.resourceUrl &&
      offer.request === offeredRequest(call) &&
      offer.network === chainOfAsset(current.network.caip2) &&
      offer.asset === current.asset &&
      offer.payTo === current.payTo
    if (isSame) return { ...current, amountMicro: accepted }
  }
  return undefined
}
