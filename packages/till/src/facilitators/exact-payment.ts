import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { TransferAuthorization } from '@assay/protocol/typed-data/transfer-authorization'
import type { FacilitatorPayment } from '../contract/facilitator.ts'

/** A payment of the scheme `exact` by EIP-3009. */
export type ExactPayment = FacilitatorPayment & {
  scheme: 'exact'
  signature: Hex
  authorization: TransferAuthorization
}

export type ExactTerms = Pick<
  ExactPayment,
  | 'paymentId'
  | 'network'
  | 'payTo'
  | 'amountMicro'
  | 'maxTimeoutSeconds'
  | 'resource'
  | 'bazaar'
  | 'signature'
  | 'authorization'
> & { asset: { address: Address; name: string; version: string } }

export function exactPayment({ asset, ...terms }: ExactTerms): ExactPayment {
  const { authorization, signature } = terms
  return {
    ...terms,
    scheme: 'exact',
    asset: asset.address,
    extra: { name: asset.name, version: asset.version },
    payer: authorization.from,
    paymentKey: authorization.nonce,
    payload: () => ({
      signature,
      authorization: {
        from: checksumAddress(authorization.from),
        to: checksumAddress(authorization.to),
        value: authorization.value.toString(),
        validAfter: authorization.validAfter.toString(),
        validBefore: authorization.validBefore.toString(),
        nonce: authorization.nonce,
      },
    }),
  }
}

export const isExact = (payment: FacilitatorPayment): payment is ExactPayment =>
  payment.scheme === 'exact' && 'authorization' in payment
