import { parseAddress } from '@assay/protocol/address'
import { type Hex, isHex } from '@assay/protocol/bytes'
import type { ChannelConfig } from '@assay/protocol/typed-data/channel'
import type { PaymentEnvelope } from '../../contract/scheme.ts'
import { fields, own, uint } from '../read-fields.ts'

/** Signed by the payer of a channel: so much may be claimed, counted from its beginning. */
export type Voucher = { channelId: Hex; maxClaimable: bigint; signature: Hex }

/** An EIP-3009 authorization for the contract that takes deposits. */
export type Deposit = { amount: bigint; validAfter: bigint; validBefore: bigint; salt: bigint; signature: Hex }

export type ChannelPayment = {
  envelope: PaymentEnvelope
  network: string
  config: ChannelConfig
  voucher: Voucher
} & ({ type: 'voucher' } | { type: 'deposit'; deposit: Deposit } | { type: 'refund'; amount: bigint | undefined })

export type ChannelDecode = { status: 'ok'; payment: ChannelPayment } | { status: 'malformed'; detail: string }

/** The contract counts in 128 bits; the books in 63. */
const microMax = 2n ** 63n - 1n
const signatureBytesMax = 4_096

const malformed = (detail: string): ChannelDecode => ({ status: 'malformed', detail })
const micro = (value: unknown): bigint | undefined => {
  const parsed = uint(value)
  return parsed !== undefined && parsed <= microMax ? parsed : undefined
}

export function decodeChannelPayment(envelope: PaymentEnvelope): ChannelDecode {
  const { payload, network } = envelope
  const config = readConfig(fields(own(payload, 'channelConfig')))
  if (!config) return malformed('`payload.channelConfig` needs five addresses, withdrawDelay and a salt of 32 bytes')
  const voucher = readVoucher(fields(own(payload, 'voucher')))
  if (!voucher) return malformed('`payload.voucher` needs channelId, maxClaimableAmount and a signature of 65 bytes')
  const common = { envelope, network, config, voucher }
  switch (own(payload, 'type')) {
    case 'voucher':
      return { status: 'ok', payment: { ...common, type: 'voucher' } }
    case 'deposit': {
      const deposit = readDeposit(fields(own(payload, 'deposit')))
      if (!deposit) return malformed('`payload.deposit` needs an amount and an `erc3009Authorization`')
      return { status: 'ok', payment: { ...common, type: 'deposit', deposit } }
    }
    case 'refund': {
      const wanted = own(payload, 'amount')
      const amount = micro(wanted)
      if (wanted !== undefined && !amount) return malformed('`payload.amount` must be a positive amount')
      return { status: 'ok', payment: { ...common, type: 'refund', amount } }
    }
    default:
      return malformed('`payload.type` must be voucher, deposit or refund')
  }
}

function readConfig(from: Record<string, unknown> | undefined): ChannelConfig | undefined {
  const [payer, payerAuthorizer, receiver, receiverAuthorizer, token] = [
    'payer',
    'payerAuthorizer',
    'receiver',
    'receiverAuthorizer',
    'token',
  ].map((name) => parseAddress(own(from, name)))
  const [withdrawDelay, salt] = [own(from, 'withdrawDelay'), own(from, 'salt')]
  if (!payer || !payerAuthorizer || !receiver || !receiverAuthorizer || !token) return undefined
  if (typeof withdrawDelay !== 'number' || !Number.isInteger(withdrawDelay) || withdrawDelay < 0) return undefined
  if (!isHex(salt, 32) || withdrawDelay >= 2 ** 31) return undefined
  return {
    ...{ payer, payerAuthorizer, receiver, receiverAuthorizer, token, withdrawDelay },
    salt: salt.toLowerCase() as Hex,
  }
}

function readVoucher(from: Record<string, unknown> | undefined): Voucher | undefined {
  const [channelId, signature] = [own(from, 'channelId'), own(from, 'signature')]
  const maxClaimable = micro(own(from, 'maxClaimableAmount'))
  // A channel whose vouchers a key signs takes nothing else.
  if (!isHex(channelId, 32) || !isHex(signature, 65) || maxClaimable === undefined) return undefined
  return {
    channelId: channelId.toLowerCase() as Hex,
    maxClaimable,
    signature: signature.toLowerCase() as Hex,
  }
}

function readDeposit(from: Record<string, unknown> | undefined): Deposit | undefined {
  const authorization = fields(own(fields(own(from, 'authorization')), 'erc3009Authorization'))
  const amount = micro(own(from, 'amount'))
  const [validAfter, validBefore] = [uint(own(authorization, 'validAfter')), uint(own(authorization, 'validBefore'))]
  const [salt, signature] = [own(authorization, 'salt'), own(authorization, 'signature')]
  if (!amount || validAfter === undefined || validBefore === undefined) return undefined
  if (!isHex(salt, 32) || !isHex(signature) || signature.length > 2 + signatureBytesMax * 2) return undefined
  return { amount, validAfter, validBefore, salt: BigInt(salt), signature: signature.toLowerCase() as Hex }
}
