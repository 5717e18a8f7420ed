import { checksumAddress } from '@assay/protocol/address'
import type { FacilitatorPayment } from './port.ts'

/** The body of `verify` and `settle`, made from our own terms alone: nothing else of the client's reaches a facilitator. */
export function facilitatorBody(payment: FacilitatorPayment): string {
  const { authorization } = payment
  const requirements = {
    scheme: 'exact',
    network: payment.network,
    asset: checksumAddress(payment.asset),
    amount: payment.amountMicro.toString(),
    payTo: checksumAddress(payment.payTo),
    maxTimeoutSeconds: payment.maxTimeoutSeconds,
    extra: { name: payment.assetName, version: payment.assetVersion },
  }
  return JSON.stringify({
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: { url: payment.resourceUrl },
      accepted: requirements,
      payload: {
        signature: payment.signature,
        authorization: {
          from: checksumAddress(authorization.from),
          to: checksumAddress(authorization.to),
          value: authorization.value.toString(),
          validAfter: authorization.validAfter.toString(),
          validBefore: authorization.validBefore.toString(),
          nonce: authorization.nonce,
        },
      },
    },
    paymentRequirements: requirements,
  })
}
