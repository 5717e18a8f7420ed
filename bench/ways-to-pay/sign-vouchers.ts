import * as curve from 'tiny-secp256k1'
import type { Address } from '../../packages/protocol/src/address.ts'
import { type Hex, toHex } from '../../packages/protocol/src/bytes.ts'
import { type ChannelConfig, createChannelHashes } from '../../packages/protocol/src/typed-data/channel.ts'
import { fromHex } from '../../packages/till/src/kernel/bytes.ts'
import { keccak256 } from '../../packages/till/src/kernel/keccak.ts'
import { type BenchTerms, benchPayer } from '../load/sign-payments.ts'

export type ChannelTerms = BenchTerms & {
  accepted: { extra: { receiverAuthorizer: Address; withdrawDelay: number } }
}

const hashes = createChannelHashes(8453, keccak256)
const lower = (address: Address) => address.toLowerCase() as Address

export function benchChannel(index: number, { accepted }: ChannelTerms): { id: Hex; config: ChannelConfig } {
  const { address } = benchPayer(index)
  const config: ChannelConfig = {
    ...{ payer: address, payerAuthorizer: address, receiver: lower(accepted.payTo), token: lower(accepted.asset) },
    receiverAuthorizer: lower(accepted.extra.receiverAuthorizer),
    withdrawDelay: accepted.extra.withdrawDelay,
    salt: `0x${'0'.repeat(64)}`,
  }
  return { id: hashes.channelId(config), config }
}

/** What each channel was charged by what was signed so far. */
const charged = new Map<Hex, bigint>()

/** Values of PAYMENT-SIGNATURE: the next voucher of each channel in turn, signed as a wallet does, with a faster curve. */
export function signVouchers(terms: ChannelTerms, count: number, channels: number): string[] {
  return Array.from({ length: count }, (_, n) => {
    const { id, config } = benchChannel(n % channels, terms)
    const max = (charged.get(id) ?? 0n) + BigInt(terms.accepted.amount)
    charged.set(id, max)
    const { signature, recoveryId } = curve.signRecoverable(
      hashes.voucherDigest(id, max),
      benchPayer(n % channels).secret,
    )
    const voucher = {
      channelId: id,
      maxClaimableAmount: max.toString(),
      signature: toHex(Buffer.concat([signature, fromHex(recoveryId === 0 ? '0x1b' : '0x1c')])),
    }
    const payload = {
      x402Version: 2,
      resource: { url: terms.resourceUrl, description: '', mimeType: 'application/json' },
      accepted: terms.accepted,
      payload: { type: 'voucher', channelConfig: config, voucher },
    }
    return Buffer.from(JSON.stringify(payload)).toString('base64')
  })
}
