import type { Address } from '@assay/protocol/address'
import { toHex } from '@assay/protocol/bytes'
import { isRecord } from '@assay/protocol/json-object'
import { parseMicro } from '@assay/protocol/money'
import { recoverSigner } from '@assay/protocol/recover-signer'
import {
  type ChannelConfig,
  channelContract,
  createChannelHashes,
  depositNonce,
  erc3009Collector,
  voucherTypes,
  withdrawDelays,
} from '@assay/protocol/typed-data/channel'
import { receiveTypes } from '@assay/protocol/typed-data/transfer-authorization'
import type { Hex, LocalAccount } from 'viem'
import { getAddress } from 'viem/utils'
import { chainIdOf } from '../networks.ts'
import type { Offer } from '../payment-required.ts'
import type { ChosenOffer } from '../spending-policy.ts'

export const channelScheme = 'batch-settlement'

/** What a seller has charged of a channel, and what is in it. */
export type ChannelState = { chargedMicro: bigint; balanceMicro: bigint }

/** The channels of one client. A voucher continues the one before, so each channel serves one call at a time. */
export type ChannelRegistry = {
  /** Undefined: whether there is such a channel, and what it was charged, is not known. */
  get(id: Hex): ChannelState | undefined
  set(id: Hex, state: ChannelState | undefined): void
  inTurn<T>(id: Hex, work: () => Promise<T>): Promise<T>
}

export function createChannelRegistry(): ChannelRegistry {
  const states = new Map<Hex, ChannelState>()
  const last = new Map<Hex, Promise<unknown>>()
  return {
    get: (id) => states.get(id),
    set: (id, state) => {
      if (state === undefined) states.delete(id)
      else states.set(id, state)
    },
    inTurn: (id, work) => {
      const turn = (last.get(id) ?? Promise.resolve()).then(work, work)
      last.set(id, turn)
      return turn
    },
  }
}

/** Why an offer of a channel is not one to sign; undefined where it is. */
export function channelFault({ extra }: Offer): string | undefined {
  const { receiverAuthorizer, withdrawDelay, assetTransferMethod = 'eip3009' } = extra
  if (!/^0x[0-9a-fA-F]{40}$/.test(String(receiverAuthorizer))) return 'names no wallet that may claim'
  const isDelay = typeof withdrawDelay === 'number' && Number.isInteger(withdrawDelay)
  if (!isDelay || withdrawDelay < withdrawDelays.min || withdrawDelay > withdrawDelays.max)
    return 'the withdraw delay is out of range'
  return assetTransferMethod === 'eip3009' ? undefined : 'deposits are not by EIP-3009'
}

const lower = (address: string) => address.toLowerCase() as Address

function configOf(payer: string, { offer, network }: Pick<ChosenOffer, 'offer' | 'network'>): ChannelConfig {
  const { receiverAuthorizer, withdrawDelay } = offer.extra
  return {
    payer: lower(payer),
    payerAuthorizer: lower(payer),
    receiver: lower(offer.payTo),
    receiverAuthorizer: lower(String(receiverAuthorizer)),
    token: lower(network.usdc),
    withdrawDelay: Number(withdrawDelay),
    // As other clients have it, so that a wallet has one channel with a seller.
    salt: `0x${'0'.repeat(64)}`,
  }
}

export const channelIdOf = (payer: string, chosen: Pick<ChosenOffer, 'offer' | 'network'>): Hex =>
  createChannelHashes(chainIdOf(chosen.network)).channelId(configOf(payer, chosen))

/**
 * A voucher for one more call, with a deposit where the channel does not hold it. Where nothing is known of the channel it
 * is a voucher alone: the seller says what it knows before any deposit is signed.
 */
export async function signVoucher(
  account: LocalAccount,
  chosen: ChosenOffer,
  state: ChannelState | undefined,
  { depositMicro, salt, validBefore }: { depositMicro: bigint; salt: Hex; validBefore: number },
): Promise<Record<string, unknown>> {
  const config = configOf(account.address, chosen)
  const channelId = channelIdOf(account.address, chosen)
  const max = (state?.chargedMicro ?? 0n) + chosen.amountMicro
  const signature = await account.signTypedData({
    domain: {
      ...{ name: 'x402 Batch Settlement', version: '1', chainId: chainIdOf(chosen.network) },
      verifyingContract: getAddress(channelContract),
    },
    types: voucherTypes,
    primaryType: 'Voucher',
    message: { channelId, maxClaimableAmount: max },
  })
  const paid = {
    channelConfig: config,
    voucher: { channelId, maxClaimableAmount: max.toString(), signature },
  }
  if (state === undefined || state.balanceMicro >= max) return { type: 'voucher', ...paid }
  const { name, version, usdc } = chosen.network
  const deposited = await account.signTypedData({
    domain: { name, version, chainId: chainIdOf(chosen.network), verifyingContract: getAddress(lower(usdc)) },
    types: receiveTypes,
    primaryType: 'ReceiveWithAuthorization',
    message: {
      ...{ from: account.address, to: getAddress(erc3009Collector), value: depositMicro },
      ...{ validAfter: 0n, validBefore: BigInt(validBefore), nonce: depositNonce(channelId, BigInt(salt)) },
    },
  })
  const authorization = { validAfter: '0', validBefore: validBefore.toString(), salt, signature: deposited }
  return {
    ...{ type: 'deposit', ...paid },
    deposit: { amount: depositMicro.toString(), authorization: { erc3009Authorization: authorization } },
  }
}

const micro = (value: unknown): bigint | undefined => (typeof value === 'string' ? parseMicro(value) : undefined)

/** What a refusal says of the channel, where our own signature proves it: no seller can make us count higher. */
export async function correctedState(
  account: LocalAccount,
  chosen: ChosenOffer,
  reason: string,
): Promise<ChannelState | undefined> {
  if (reason.endsWith('_channel_not_found')) return { chargedMicro: 0n, balanceMicro: 0n }
  const { channelState, voucherState } = chosen.offer.extra
  if (!reason.endsWith('_cumulative_amount_mismatch') || !isRecord(channelState)) return undefined
  const chargedMicro = micro(channelState['chargedCumulativeAmount'])
  const balanceMicro = micro(channelState['balance'])
  if (chargedMicro === undefined || balanceMicro === undefined) return undefined
  if (chargedMicro === 0n) return { chargedMicro, balanceMicro }
  if (!isRecord(voucherState)) return undefined
  const signedMicro = micro(voucherState['signedMaxClaimable'])
  const signature = voucherState['signature']
  if (signedMicro === undefined || signedMicro < chargedMicro || typeof signature !== 'string') return undefined
  const hashes = createChannelHashes(chainIdOf(chosen.network))
  const digest = () => toHex(hashes.voucherDigest(channelIdOf(account.address, chosen), signedMicro))
  const signer = await recoverSigner(digest, signature.toLowerCase())
  return signer === lower(account.address) ? { chargedMicro, balanceMicro } : undefined
}

/** What a call was charged, as PAYMENT-RESPONSE says; undefined where it does not fit what was signed. */
export function chargedInChannel(
  { extra }: Record<string, unknown>,
  baseMicro: bigint,
  amountMicro: bigint,
): (ChannelState & { charge: bigint }) | undefined {
  if (!isRecord(extra) || !isRecord(extra['channelState'])) return undefined
  const charge = micro(extra['chargedAmount'])
  const chargedMicro = micro(extra['channelState']['chargedCumulativeAmount'])
  const balanceMicro = micro(extra['channelState']['balance'])
  if (charge === undefined || charge > amountMicro || balanceMicro === undefined) return undefined
  return chargedMicro === baseMicro + charge ? { charge, chargedMicro, balanceMicro } : undefined
}
