import { randomBytes } from 'node:crypto'
import { authorizationTypes } from '@assay/protocol/typed-data/transfer-authorization'
import type { Offer, PaymentRequired } from '@assay/sdk'
import { type Address, type Hex, type LocalAccount, toHex } from 'viem'
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

export type SignDeps = { account: LocalAccount; required: PaymentRequired; offer: Offer; budget: Budget; case: string }

/** However long the seller would accept: what is signed here is worthless after this. */
const windowSecondsMax = 60

export const encodePayment = (document: unknown): string => Buffer.from(JSON.stringify(document)).toString('base64')

export type PaymentDocument = {
  payload: { signature: Hex; authorization: Record<string, string> & { nonce: Hex } }
} & Record<string, unknown>

export const decodePayment = (payment: string): PaymentDocument =>
  JSON.parse(Buffer.from(payment, 'base64').toString('utf8')) as PaymentDocument

export const newNonce = (): Hex => toHex(randomBytes(32))

export const domainOf = (offer: Offer, change: Pick<PaymentChange, 'chainId' | 'verifyingContract'> = {}) => ({
  name: String(offer.extra.name ?? 'USD Coin'),
  version: String(offer.extra.version ?? '2'),
  chainId: change.chainId ?? Number(offer.network.slice('eip155:'.length)),
  verifyingContract: change.verifyingContract ?? (offer.asset as Address),
})

/** Signs what it is given, right or wrong, and wraps it as the seller expects it: the value of PAYMENT-SIGNATURE. */
export async function signPayment(deps: SignDeps, change: PaymentChange = {}): Promise<string> {
  const { required, offer, budget } = deps
  const signer = change.account ?? deps.account
  const now = Math.floor(Date.now() / 1000)
  const authorization = {
    from: signer.address as string,
    to: offer.payTo,
    value: offer.amount,
    validAfter: '0',
    validBefore: String(now + Math.min(offer.maxTimeoutSeconds, windowSecondsMax)),
    nonce: newNonce() as string,
    ...change.authorization,
  }
  if (Number(authorization.validBefore) > now + windowSecondsMax)
    throw new Error(`a payment would be valid for more than ${windowSecondsMax} s`)
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
    ...{ case: deps.case, network: offer.network, asset: offer.asset, signature },
    ...{ from: authorization.from as Address, to: authorization.to, value: authorization.value },
    ...{ nonce: authorization.nonce, validBefore: authorization.validBefore },
  })
  return encodePayment({
    x402Version: 2,
    resource: required.resource,
    accepted: { ...(offer.raw as Record<string, unknown>), ...change.accepted },
    payload: { signature: change.signature?.(signature) ?? signature, authorization },
    ...change.document,
  })
}
