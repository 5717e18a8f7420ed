import { checksumAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import type { Hold } from '../../contract/entitlement.ts'
import { encodeChannelSale } from '../encode-response.ts'
import { type ChannelRecord, channelStateExtra } from './channel-record.ts'
import type { PlannedDeposit } from './make-deposit.ts'

/** A voucher that continues its channel, while its answer is made. */
export type VoucherHold = {
  callId: string
  /** The channel as the sale finds it. */
  record: ChannelRecord
  fingerprint: Buffer
  identifierHash: Buffer | null
  amountMicro: Micro
  signedMicro: Micro
  signature: Hex
  /** What is charged: known once the answer is prepared. */
  chargeMicro: Micro
  /** To be made before the sale. */
  deposit?: PlannedDeposit
  /** Transaction of the deposit. */
  transaction?: Hex
  /** Made with the charge. */
  paymentResponse: string
}

export const voucherOf = (hold: Hold): VoucherHold => hold.chargeAfterPrepare as VoucherHold

/** The channel after the sale. */
export const soldRecord = ({ record, chargeMicro, signedMicro, signature }: VoucherHold): ChannelRecord => ({
  ...record,
  chargedMicro: record.chargedMicro + chargeMicro,
  sequence: record.sequence + 1n,
  signedMicro,
  signature,
})

/** PAYMENT-RESPONSE, by which the client counts on. `sold`: the channel after the sale. */
export function voucherResponse(hold: VoucherHold, sold: ChannelRecord): string {
  const { deposit, transaction, chargeMicro } = hold
  return encodeChannelSale({
    payer: checksumAddress(sold.config.payer),
    network: sold.network,
    transaction: transaction ?? '',
    amount: transaction === undefined ? '' : (deposit?.deposit.amount ?? 0n).toString(),
    extra: { chargedAmount: chargeMicro.toString(), channelState: channelStateExtra(sold) },
  })
}
