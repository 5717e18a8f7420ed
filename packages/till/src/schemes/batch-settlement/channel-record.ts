import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import type { ChannelConfig } from '@assay/protocol/typed-data/channel'

/** A channel as its row tells it. */
export type ChannelRecord = {
  network: string
  id: Hex
  config: ChannelConfig
  chargedMicro: Micro
  sequence: bigint
  signedMicro: Micro
  signature: Hex | undefined
  /** The highest voucher that others may know. */
  publicMicro: Micro
  atBlock: bigint
  balanceMicro: Micro
  claimedMicro: Micro
  refundNonce: bigint
  withdrawStartedAt: number
  postedMicro: Micro
  lostMicro: Micro
  state: 'open' | 'refunding'
  refundAtMs: number | undefined
  claimFailingSinceMs: number | undefined
}

export const channelColumns = `network, id, payer, payer_authorizer, receiver, receiver_authorizer, token, withdraw_delay, salt,
  charged_micro, sequence, signed_micro, signature, public_micro, at_block, balance_micro, claimed_micro, refund_nonce,
  withdraw_started_at, posted_micro, lost_micro, state, refund_at, claim_failing_since`

// biome-ignore lint/suspicious/noExplicitAny: rows come from the columns above, typed by the driver
export function toChannelRecord(row: any): ChannelRecord {
  return {
    network: row.network,
    id: toHex(row.id),
    config: {
      payer: row.payer as Address,
      payerAuthorizer: row.payer_authorizer as Address,
      receiver: row.receiver as Address,
      receiverAuthorizer: row.receiver_authorizer as Address,
      token: row.token as Address,
      withdrawDelay: row.withdraw_delay,
      salt: toHex(row.salt),
    },
    chargedMicro: row.charged_micro,
    sequence: row.sequence,
    signedMicro: row.signed_micro,
    signature: row.signature === null ? undefined : toHex(row.signature),
    publicMicro: row.public_micro,
    atBlock: row.at_block,
    balanceMicro: row.balance_micro,
    claimedMicro: row.claimed_micro,
    refundNonce: row.refund_nonce,
    withdrawStartedAt: Number(row.withdraw_started_at),
    postedMicro: row.posted_micro,
    lostMicro: row.lost_micro,
    state: row.state,
    refundAtMs: (row.refund_at as Date | null)?.getTime(),
    claimFailingSinceMs: (row.claim_failing_since as Date | null)?.getTime(),
  }
}

/** As x402 writes the state of a channel in answers. */
export function channelStateExtra(channel: ChannelRecord) {
  return {
    channelId: channel.id,
    balance: channel.balanceMicro.toString(),
    totalClaimed: channel.claimedMicro.toString(),
    withdrawRequestedAt: channel.withdrawStartedAt,
    refundNonce: channel.refundNonce.toString(),
    chargedCumulativeAmount: channel.chargedMicro.toString(),
  }
}
