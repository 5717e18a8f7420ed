import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import {
  type Permit2Scheme,
  type Permit2Transfer,
  permit2Key,
  permit2Proxies,
} from '@assay/protocol/typed-data/permit2'
import type { FacilitatorPayment, Settlers } from '../contract/facilitator.ts'

/** A payment by a Permit2 signature, of the scheme `exact` or `upto`. */
export type Permit2Payment = FacilitatorPayment & {
  scheme: Permit2Scheme
  /** `tokenPermit`: carried before the transfer, where the payer has given no allowance yet. */
  permit2: { transfer: Permit2Transfer; signature: Hex; tokenPermit?: TokenPermit }
}

/** An EIP-2612 permit that gives Permit2 the allowance of one payment. */
export type TokenPermit = { value: bigint; nonce: bigint; deadline: bigint; signature: Hex }

export type Permit2Terms = Pick<
  Permit2Payment,
  'paymentId' | 'scheme' | 'network' | 'amountMicro' | 'maxTimeoutSeconds' | 'resource' | 'bazaar' | 'permit2'
> & { asset: { address: Address; name: string; version: string } }

export function permit2Payment({ asset, ...terms }: Permit2Terms): Permit2Payment {
  const { transfer, signature } = terms.permit2
  const { facilitator } = transfer
  const named = facilitator === undefined ? {} : { facilitator: checksumAddress(facilitator) }
  return {
    ...terms,
    acceptedMicro: transfer.amount,
    asset: asset.address,
    payTo: transfer.to,
    payer: transfer.from,
    paymentKey: permit2Key(transfer.nonce),
    extra: {
      ...{ name: asset.name, version: asset.version, assetTransferMethod: 'permit2' },
      ...(facilitator === undefined ? {} : { facilitatorAddress: checksumAddress(facilitator) }),
    },
    payload: () => ({
      signature,
      permit2Authorization: {
        from: checksumAddress(transfer.from),
        permitted: { token: checksumAddress(transfer.token), amount: transfer.amount.toString() },
        spender: checksumAddress(permit2Proxies[terms.scheme]),
        nonce: transfer.nonce.toString(),
        deadline: transfer.deadline.toString(),
        witness: { to: checksumAddress(transfer.to), ...named, validAfter: transfer.validAfter.toString() },
      },
    }),
  }
}

/** Whether a permit can be submitted from these wallets: one of `upto` names who may. */
export const isCarriedBy = ({ permit2 }: Permit2Payment, settlers: Settlers | undefined): boolean => {
  const named = permit2.transfer.facilitator
  return settlers !== undefined && (named === undefined || settlers.wallets.includes(named))
}

/** A facilitator that names a wallet for this scheme has what Permit2 needs: it settles `exact` by Permit2 as well. */
export const permit2Scheme: Permit2Scheme = 'upto'

/** The extension by which an EIP-2612 permit comes with a payment. */
export const sponsoringKey = 'eip2612GasSponsoring'

export const isPermit2 = (payment: FacilitatorPayment): payment is Permit2Payment => 'permit2' in payment
