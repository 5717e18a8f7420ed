import { randomBytes } from 'node:crypto'
import type { Address } from '@assay/protocol/address'
import {
  type ChannelConfig,
  channelContract,
  createChannelHashes,
  depositNonce,
  erc3009Collector,
  voucherTypes,
} from '@assay/protocol/typed-data/channel'
import { receiveTypes } from '@assay/protocol/typed-data/transfer-authorization'
import type { Offer, PaymentRequired } from '@assay/sdk'
import { type Hex, type LocalAccount, toHex } from 'viem'
import { inSeconds } from '../time.ts'
import { checkValidity, domainOf, encodePayment, type SignDeps, windowSecondsMax } from './sign-payment.ts'

export type ChannelOffer = Offer & { scheme: 'batch-settlement' }

/** The offer of a route that is paid through a channel, on the network of its other offer. */
export const channelOffer = ({ accepts }: PaymentRequired, network: string): ChannelOffer | undefined =>
  accepts.find(
    (offer): offer is ChannelOffer =>
      offer.network === network &&
      offer.scheme === 'batch-settlement' &&
      (offer.extra['assetTransferMethod'] ?? 'eip3009') === 'eip3009',
  )

/** How a voucher differs from what the seller asked for. */
export type VoucherChange = {
  type?: 'voucher' | 'refund'
  account?: LocalAccount
  channelId?: Hex
  config?: Partial<ChannelConfig>
  chainId?: number
  contract?: Address
  signature?(signature: Hex): Hex
  /** Names the route that the offer was made for; a voucher itself names none. */
  isNamed?: boolean
}

/** How a deposit differs. */
export type DepositChange = VoucherChange & {
  amount?: bigint
  /** What the voucher beside it allows; the price of one call, unless another one is given. */
  max?: bigint
  validBefore?: string
  depositor?: LocalAccount
}

/** One channel of the buyer with the seller. */
export type Channel = {
  id: Hex
  config: ChannelConfig
  offer: ChannelOffer
  price: bigint
  /** What is paid in for so many calls, at least. */
  depositFor(calls: number): bigint
  /** The first payment: that, and the voucher of the first of them. */
  deposit(calls: number, change?: DepositChange): Promise<string>
  /** Up to `max` units, counted from the beginning of the channel, may be claimed. */
  voucher(max: bigint, change?: VoucherChange): Promise<string>
}

/** Sellers pay the gas of a deposit, and some refuse what is not worth it. */
const depositMicroMin = 20_000n

const lower = (address: unknown) => String(address).toLowerCase() as Address

/** A new channel: nothing is signed yet. */
export function newChannel(deps: SignDeps & { offer: ChannelOffer }): Channel {
  const { offer, account, required } = deps
  const chainId = Number(offer.network.slice('eip155:'.length))
  const config: ChannelConfig = {
    ...{ payer: lower(account.address), payerAuthorizer: lower(account.address), receiver: lower(offer.payTo) },
    ...{ receiverAuthorizer: lower(offer.extra['receiverAuthorizer']), token: lower(offer.asset) },
    ...{ withdrawDelay: Number(offer.extra['withdrawDelay']), salt: toHex(randomBytes(32)) },
  }
  const hashes = createChannelHashes(chainId)
  const price = BigInt(offer.amount)
  const changed = (change: VoucherChange) => {
    const used = { ...config, ...change.config }
    return { config: used, id: change.channelId ?? hashes.channelId(used) }
  }
  const wrap = (payload: Record<string, unknown>, { isNamed = true }: VoucherChange) =>
    encodePayment({ x402Version: 2, ...(isNamed ? { resource: required.resource } : {}), accepted: offer.raw, payload })
  const signVoucher = async (max: bigint, change: VoucherChange) => {
    const { id } = changed(change)
    const signature = await (change.account ?? account).signTypedData({
      domain: {
        ...{ name: 'x402 Batch Settlement', version: '1', chainId: change.chainId ?? chainId },
        verifyingContract: change.contract ?? channelContract,
      },
      ...{ types: voucherTypes, primaryType: 'Voucher', message: { channelId: id, maxClaimableAmount: max } },
    })
    // No more than was paid in can be claimed, and that was counted with the deposit.
    deps.budget.record({
      ...{ case: deps.case, kind: 'voucher', network: offer.network, asset: offer.asset, signature },
      ...{ from: account.address, to: id, value: max.toString(), nonce: '', validBefore: '' },
    })
    return {
      ...{ channelId: id, maxClaimableAmount: max.toString() },
      signature: change.signature?.(signature) ?? signature,
    }
  }
  const depositFor = (calls: number) => {
    const covering = price * BigInt(calls)
    return covering > depositMicroMin ? covering : depositMicroMin
  }
  return {
    ...{ id: hashes.channelId(config), config, offer, price, depositFor },
    voucher: async (max, change = {}) => {
      const voucher = await signVoucher(max, change)
      return wrap({ type: change.type ?? 'voucher', channelConfig: changed(change).config, voucher }, change)
    },
    deposit: async (calls, change = {}) => {
      const { config: used, id } = changed(change)
      const amount = change.amount ?? depositFor(calls)
      const authorization = await signDeposit(deps, id, amount, change)
      const voucher = await signVoucher(change.max ?? price, change)
      const deposit = { amount: amount.toString(), authorization: { erc3009Authorization: authorization } }
      return wrap({ type: 'deposit', channelConfig: used, voucher, deposit }, change)
    },
  }
}

/** Counts in full against the cap: whatever is not charged has to be asked for. */
async function signDeposit(
  { offer, budget, account, ...deps }: SignDeps,
  id: Hex,
  amount: bigint,
  change: DepositChange,
): Promise<Record<string, string>> {
  const validBefore = change.validBefore ?? inSeconds(deps.time, Math.min(offer.maxTimeoutSeconds, windowSecondsMax))
  checkValidity(deps.time, validBefore)
  budget.reserve(amount)
  const salt = toHex(randomBytes(32))
  const nonce = depositNonce(id, BigInt(salt))
  const signature = await (change.depositor ?? account).signTypedData({
    ...{ domain: domainOf(offer), types: receiveTypes, primaryType: 'ReceiveWithAuthorization' },
    message: {
      ...{ from: account.address, to: erc3009Collector, value: amount, nonce },
      ...{ validAfter: 0n, validBefore: BigInt(validBefore) },
    },
  })
  budget.record({
    ...{ case: deps.case, kind: 'deposit', network: offer.network, asset: offer.asset, signature },
    ...{ from: account.address, to: erc3009Collector, value: amount.toString(), nonce, validBefore },
  })
  return { validAfter: '0', validBefore, salt, signature }
}

export type VoucherDocument = {
  type: string
  channelConfig: Record<string, unknown> & { payer: string; receiver: string }
  voucher: { channelId: string; maxClaimableAmount: string; signature: string }
  deposit?: unknown
}

/** The payload of a payment through a channel; undefined for another payment. */
export function decodeVoucher(payment: string): VoucherDocument | undefined {
  const { payload } = JSON.parse(Buffer.from(payment, 'base64').toString('utf8')) as { payload?: VoucherDocument }
  return typeof payload?.channelConfig === 'object' && typeof payload.voucher === 'object' ? payload : undefined
}
