import type { Address } from '../address.ts'
import { concatBytes, fromHex, type Hex, toHex, utf8 } from '../bytes.ts'
import { type Hash, keccak256 } from '../hash.ts'
import { domainSeparator } from './domain-separator.ts'
import { addressWord, uintWord } from './words.ts'

/** The contract of the x402 scheme `batch-settlement`, and what takes deposits by EIP-3009: the same on every chain. */
export const channelContract: Address = '0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003'
export const erc3009Collector: Address = '0x4020806089470a89826cb9fb1f4059150b550004'

/** Withdraw delays in seconds that the contract takes. */
export const withdrawDelays = { min: 900, max: 2_592_000 }

/** All that makes a channel: with any other word it is another one. */
export type ChannelConfig = {
  payer: Address
  /** The key that signs vouchers; zero where the payer is a contract that verifies them itself. */
  payerAuthorizer: Address
  receiver: Address
  receiverAuthorizer: Address
  token: Address
  withdrawDelay: number
  salt: Hex
}

const configType =
  'ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)'
const voucherType = 'Voucher(bytes32 channelId,uint128 maxClaimableAmount)'
export const voucherTypes = {
  Voucher: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'maxClaimableAmount', type: 'uint128' },
  ],
} as const
const prefix = new Uint8Array([0x19, 0x01])

/** Ids and digests of channels on one chain; what does not change is hashed once. */
export function createChannelHashes(chainId: number, keccak: Hash = keccak256) {
  const domain = domainSeparator(
    { name: 'x402 Batch Settlement', version: '1', chainId, address: channelContract },
    keccak,
  )
  const types = { config: keccak(utf8(configType)), voucher: keccak(utf8(voucherType)) }
  const digest = (...words: Uint8Array[]) => keccak(concatBytes(prefix, domain, keccak(concatBytes(...words))))
  return {
    channelId: (config: ChannelConfig): Hex =>
      toHex(
        digest(
          types.config,
          addressWord(config.payer),
          addressWord(config.payerAuthorizer),
          addressWord(config.receiver),
          addressWord(config.receiverAuthorizer),
          addressWord(config.token),
          uintWord(config.withdrawDelay),
          fromHex(config.salt),
        ),
      ),
    /** What the payer signs: up to so much, counted from the beginning of the channel, may be claimed. */
    voucherDigest: (channelId: Hex, maxClaimable: bigint): Uint8Array =>
      digest(types.voucher, fromHex(channelId), uintWord(maxClaimable)),
  }
}

export type ChannelHashes = ReturnType<typeof createChannelHashes>

/** The EIP-3009 nonce of a deposit names the channel, so that it can go nowhere else. */
export const depositNonce = (channelId: Hex, salt: bigint, keccak: Hash = keccak256): Hex =>
  toHex(keccak(concatBytes(fromHex(channelId), uintWord(salt))))
