import type { Hex } from '@assay/protocol/bytes'
import { bindingContentType, bindingNonce, isTaggedNonce } from '@assay/protocol/request-binding'
import type { Offers } from '../../contract/offers.ts'
import type { PaidCall } from '../../contract/paid-call.ts'
import type { Invalid, MatchOutcome } from '../../contract/scheme.ts'
import type { Terms } from '../../contract/terms.ts'
import { keccak256 } from '../../kernel/keccak.ts'
import { termsForAmount } from '../match-offer.ts'
import type { ExactSchemePayment } from './decode-exact.ts'

const invalid = (reason: string, detail: string): Invalid => ({ status: 'invalid', reason, detail })

/**
 * Finds the terms of ours that a payment satisfies: the current ones, or those of an offer we signed that is still valid.
 * What the client wrote in `accepted` only selects; the authorization itself is compared with our own terms.
 */
export function matchTerms(
  payment: ExactSchemePayment,
  call: PaidCall,
  current: readonly Terms[],
  offers: Offers,
): MatchOutcome {
  if (!bindingFits(call, payment.paymentKey, payment.envelope.bindingSalt))
    return {
      ...invalid('invalid_request_binding', 'The nonce is not that of this request.'),
      code: 'payment_binding_invalid',
    }
  const onNetwork = current.find((terms) => terms.network.caip2 === payment.network)
  if (!onNetwork) {
    const taken = current.map((terms) => terms.network.caip2).join(', ')
    return invalid('invalid_network', `Not taken on ${payment.network.slice(0, 64)}; pay on ${taken}.`)
  }
  const { envelope, signed } = payment
  if (envelope.asset !== onNetwork.asset)
    return invalid('invalid_exact_evm_asset_mismatch', `The asset must be ${onNetwork.asset}.`)
  if (envelope.payTo !== onNetwork.payTo || signed.authorization.to !== onNetwork.payTo)
    return invalid('invalid_exact_evm_payload_recipient_mismatch', `The recipient must be ${onNetwork.payTo}.`)
  const terms = termsForAmount(envelope, call, onNetwork, offers)
  if (!terms || signed.authorization.value !== terms.amountMicro)
    return invalid(
      'invalid_exact_evm_payload_authorization_value_mismatch',
      `The value must be exactly ${onNetwork.amountMicro}, in atomic units (6 decimals).`,
    )
  return { status: 'ok', terms }
}

/** A tagged nonce must come with the salt that proves it, and a salt only makes sense with a tagged nonce. */
export function bindingFits(call: PaidCall, signedNonce: Hex, bindingSalt: Hex | undefined): boolean {
  const tagged = isTaggedNonce(signedNonce)
  if (!tagged && bindingSalt === undefined) return true
  if (!tagged || bindingSalt === undefined) return false
  const nonce = bindingNonce(
    {
      method: call.method,
      resource: call.resourceUrl,
      contentType: bindingContentType(call.contentType),
      bodyDigest: call.bodyDigest,
      salt: bindingSalt,
    },
    keccak256,
  )
  return nonce === signedNonce
}
