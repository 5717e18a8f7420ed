import { fromHex } from '../../kernel/bytes.ts'
import { recoverAddress } from '../../kernel/secp256k1.ts'
import { type ChannelDeps, chainOf, channelReason, VoucherRefused } from './channel-deps.ts'
import { type ChannelRecord, channelStateExtra } from './channel-record.ts'
import { recordPublic } from './channel-store.ts'
import type { ChannelPayment } from './decode-channel.ts'
import { channelScheme } from './offer-channel.ts'

/** The voucher is of this channel, of this chain and contract, and signed by the key that the channel names. */
export function checkVoucher(deps: ChannelDeps, { network, config, voucher }: ChannelPayment): void {
  const { hashes } = chainOf(deps, network)
  if (hashes.channelId(config) !== voucher.channelId)
    throw new VoucherRefused(
      channelReason('channel_id_mismatch'),
      'voucher.channelId is not the id of channelConfig on this chain.',
    )
  const digest = hashes.voucherDigest(voucher.channelId, voucher.maxClaimable)
  if (recoverAddress(digest, fromHex(voucher.signature)) !== config.payerAuthorizer)
    throw new VoucherRefused(
      channelReason('voucher_signature'),
      'The signature is not that of payerAuthorizer over this voucher.',
    )
}

/** 402 with the state of the channel, from which its client signs again; it shows the newest voucher to every caller. */
export async function correctionFor(deps: ChannelDeps, record: ChannelRecord): Promise<VoucherRefused> {
  if (record.publicMicro < record.signedMicro) {
    await recordPublic(deps.database, [record])
    deps.cache.shown(record)
  }
  return new VoucherRefused(
    channelReason('cumulative_amount_mismatch'),
    `The channel was charged ${record.chargedMicro} of ${record.balanceMicro}; maxClaimableAmount must be that and the amount.`,
    {
      ...{ scheme: channelScheme, network: record.network },
      state: {
        channelState: channelStateExtra(record),
        ...(record.signature === undefined
          ? {}
          : { voucherState: { signedMaxClaimable: record.signedMicro.toString(), signature: record.signature } }),
      },
    },
  )
}
