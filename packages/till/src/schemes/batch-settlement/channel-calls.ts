import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { smallerOf } from '@assay/protocol/money'
import { type ChannelConfig, erc3009Collector } from '@assay/protocol/typed-data/channel'
import { encodeAbiParameters, encodeFunctionData, parseAbi } from 'viem'
import type { ChannelRecord } from './channel-record.ts'
import type { Deposit } from './decode-channel.ts'

const abi = parseAbi([
  'struct Config { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'struct Voucher { Config channel; uint128 maxClaimableAmount; }',
  'struct Claim { Voucher voucher; bytes signature; uint128 totalClaimed; }',
  'function deposit(Config config, uint128 amount, address collector, bytes collectorData)',
  'function claim(Claim[] voucherClaims)',
  'function settle(address receiver, address token)',
  'function refund(Config config, uint128 amount)',
  'function multicall(bytes[] data)',
])

export function depositCall(config: ChannelConfig, { amount, ...by }: Deposit): Hex {
  const data = encodeAbiParameters(
    [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }],
    [by.validAfter, by.validBefore, by.salt, by.signature],
  )
  return encodeFunctionData({ abi, functionName: 'deposit', args: [config, amount, erc3009Collector, data] })
}

/** What can be claimed: what was charged, as far as the channel still holds it. */
export const claimable = ({ chargedMicro, balanceMicro }: ChannelRecord) => smallerOf(chargedMicro, balanceMicro)

export function claimCall(channels: readonly ChannelRecord[]): Hex {
  const claims = channels.map((channel) => ({
    voucher: { channel: channel.config, maxClaimableAmount: channel.signedMicro },
    signature: channel.signature as Hex,
    totalClaimed: claimable(channel),
  }))
  return encodeFunctionData({ abi, functionName: 'claim', args: [claims] })
}

export const settleCall = (receiver: Address, token: Address): Hex =>
  encodeFunctionData({ abi, functionName: 'settle', args: [receiver, token] })

export const refundCall = (config: ChannelConfig, amount: bigint): Hex =>
  encodeFunctionData({ abi, functionName: 'refund', args: [config, amount] })

/** Several calls of one sender, all or none. */
export function together(calls: readonly Hex[]): Hex {
  const [first] = calls
  if (first === undefined) throw new RangeError('nothing to call')
  return calls.length === 1 ? first : encodeFunctionData({ abi, functionName: 'multicall', args: [calls] })
}
