import { randomBytes } from 'node:crypto'
import { authorizationTypes } from '@assay/protocol/typed-data/transfer-authorization'
import type { Offer, PaymentRequired } from '@assay/sdk'
import { type Address, type Hex, type LocalAccount, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { inSeconds, type Time } from '../time.ts'
import type { Budget } from './budget.ts'

/** How a payment differs from what the seller asked for. */
export type PaymentChange = {
  account?: LocalAccount
  authorization?: Partial<Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>>
  chainId?: number
  verifyingContract?: Address
  accepted?: Record<string, unknown>
  document?: Record<string, unknown>
  signature?(signature: Hex): Hex
}

export type SignDeps = {
  account: LocalAccount
  required: PaymentRequired
  offer: Offer
  budget: Budget
  case: string
  time: Time
}

/** However long the seller would accept: what is signed here is worthless after this. */
export const windowSecondsMax = 60

export const encodePayment = (document: unknown): string => Buffer.from(JSON.stringify(document)).toString('base64')

export type PaymentDocument = {
  payload: { signature: Hex; authorization: Record<string, string> & { nonce: Hex } }
} & Record<string, unknown>

export const decodePayment = (payment: string): PaymentDocument =>
  JSON.parse(Buffer.from(payment, 'base64').toString('utf8')) as PaymentDocument

/** A throwaway wallet. */
export const newAccount = () => privateKeyToAccount(generatePrivateKey())

export const newNonce = (): Hex => toHex(randomBytes(32))

export const domainOf = (offer: Offer, change: Pick<PaymentChange, 'chainId' | 'verifyingContract'> = {}) => ({
  name: String(offer.extra.name ?? 'USD Coin'),
  version: String(offer.extra.version ?? '2'),
  chainId: change.chainId ?? Number(offer.network.slice('eip155:'.length)),
  verifyingContract: change.verifyingContract ?? (offer.asset as Address),
})

/** Throws before anything is signed that is valid for longer. */
export function checkValidity(time: Time, validBefore: string): void {
  if (Number(validBefore) > Number(inSeconds(time, windowSecondsMax)))
    throw new Error(`a payment would be valid for more than ${windowSecondsMax} s`)
}

/** Signs what it is given, right or wrong, and wraps it as the seller expects it: the value of PAYMENT-SIGNATURE. */
export async function signPayment(deps: SignDeps, change: PaymentChange = {}): Promise<string> {
  const { required, offer, time } = deps
  const { from: _, ...terms } = {
    ...{ from: '', to: offer.payTo, value: offer.amount, validAfter: '0', nonce: newNonce() as string },
    validBefore: inSeconds(time, Math.min(offer.maxTimeoutSeconds, windowSecondsMax)),
    ...change.authorization,
  }
  const signed = await signAuthorization(deps, terms, change)
  return encodePayment({
    x402Version: 2,
    resource: required.resource,
    accepted: { ...(offer.raw as Record<string, unknown>), ...change.accepted },
    payload: signed,
    ...change.document,
  })
}

type Authorization = Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>

/** Signs a transfer by EIP-3009, within the cap and the longest window, and notes it. */
export async function signAuthorization(
  { offer, budget, ...deps }: Omit<SignDeps, 'required'>,
  terms: Omit<Authorization, 'from'>,
  change: Pick<PaymentChange, 'account' | 'authorization' | 'chainId' | 'verifyingContract' | 'signature'> = {},
): Promise<{ signature: Hex; authorization: Authorization }> {
  const signer = change.account ?? deps.account
  const authorization = { from: change.authorization?.from ?? signer.address, ...terms }
  checkValidity(deps.time, authorization.validBefore)
  budget.reserve(BigInt(authorization.value))
  const signature = await signer.signTypedData({
    domain: domainOf(offer, change),
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: authorization.from as Address,
      to: authorization.to as Address,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce as Hex,
    },
  })
  budget.record({
    ...{ case: deps.case, kind: 'authorization', network: offer.network, asset: offer.asset, signature },
    ...{ from: authorization.from as Address, to: authorization.to, value: authorization.value },
    ...{ nonce: authorization.nonce, validBefore: authorization.validBefore },
  })
  return { signature: change.signature?.(signature) ?? signature, authorization }
}
