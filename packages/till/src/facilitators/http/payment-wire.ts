import { checksumAddress } from '@assay/protocol/address'
import type { FacilitatorPayment } from '../../contract/facilitator.ts'

/** The body of `verify` and `settle`, made from our own terms and declaration alone: nothing else of the client's reaches a facilitator. */
export function facilitatorBody(payment: FacilitatorPayment): string {
  const requirements = {
    scheme: payment.scheme,
    network: payment.network,
    asset: checksumAddress(payment.asset),
    amount: payment.amountMicro.toString(),
    payTo: checksumAddress(payment.payTo),
    maxTimeoutSeconds: payment.maxTimeoutSeconds,
    extra: payment.extra,
  }
  return JSON.stringify({
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: payment.resource,
      accepted: { ...requirements, amount: (payment.acceptedMicro ?? payment.amountMicro).toString() },
      payload: payment.payload(),
      ...(payment.bazaar === undefined ? {} : { extensions: { bazaar: payment.bazaar } }),
    },
    paymentRequirements: requirements,
  })
}
