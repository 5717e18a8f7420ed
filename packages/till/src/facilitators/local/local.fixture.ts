import type { Address } from '@assay/protocol/address'
import type { TransferAuthorization } from '@assay/protocol/typed-data/transfer-authorization'
import type { Network } from '../../chain/index.ts'
import { type ExactPayment, exactPayment } from '../exact-payment.ts'

export const shopAddress: Address = '0x5a0b54d5dc17e0aadc383d2db43b0a0d3e029c4c'

type Signs = {
  authorize(
    network: Network,
    terms: Partial<TransferAuthorization> & { to: Address },
  ): { authorization: TransferAuthorization; signature: `0x${string}` }
}

/** A payment as the gate hands it over. */
export function paymentOf(network: Network, payer: Signs, terms: Partial<TransferAuthorization> = {}): ExactPayment {
  const { authorization, signature } = payer.authorize(network, { to: shopAddress, ...terms })
  return exactPayment({
    paymentId: `pay_${authorization.nonce.slice(2, 28)}`,
    network: network.caip2,
    asset: network.usdc,
    payTo: authorization.to,
    amountMicro: authorization.value,
    maxTimeoutSeconds: 60,
    resource: { url: 'https://node.example/v1/sandbox/echo' },
    signature,
    authorization,
  })
}
