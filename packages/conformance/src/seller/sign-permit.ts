import { randomBytes } from 'node:crypto'
import { permit2Domain, permit2Proxies, permit2Types } from '@assay/protocol/typed-data/permit2'
import type { Offer, PaymentRequired } from '@assay/sdk'
import { type Address, getAddress, type Hex, type LocalAccount } from 'viem'
import { type Permit2Authorization, permit2Message } from '../permit2.ts'
import { inSeconds } from '../time.ts'
import { checkValidity, encodePayment, type SignDeps, windowSecondsMax } from './sign-payment.ts'

/** How a permit differs from what the seller asked for. */
export type PermitChange = {
  account?: LocalAccount
  amount?: string
  token?: string
  to?: string
  spender?: string
  facilitator?: string
  nonce?: bigint
  deadline?: string
  validAfter?: string
  chainId?: number
  accepted?: Record<string, unknown>
  signature?(signature: Hex): Hex
}

export type Permit2Offer = Offer & { scheme: 'exact' | 'upto' }

/** The offers of a route that are paid by Permit2, on the network of its other offer. */
export const permit2Offers = ({ accepts }: PaymentRequired, network: string): Permit2Offer[] =>
  accepts.filter(
    (offer): offer is Permit2Offer =>
      offer.network === network &&
      (offer.scheme === 'upto' || (offer.scheme === 'exact' && offer.extra['assetTransferMethod'] === 'permit2')),
  )

export const newPermitNonce = (): bigint => BigInt(`0x${randomBytes(32).toString('hex')}`)

/** Signs a permit, right or wrong, and wraps it as the seller expects it: the value of PAYMENT-SIGNATURE. */
export async function signPermit(
  { required, budget, account, ...deps }: SignDeps & { offer: Permit2Offer },
  change: PermitChange = {},
): Promise<string> {
  const { offer, time } = deps
  const signer = change.account ?? account
  const named = change.facilitator ?? String(offer.extra['facilitatorAddress'] ?? '')
  const permit: Permit2Authorization = {
    from: signer.address,
    permitted: { token: getAddress(change.token ?? offer.asset), amount: change.amount ?? offer.amount },
    spender: getAddress(change.spender ?? permit2Proxies[offer.scheme]),
    nonce: (change.nonce ?? newPermitNonce()).toString(),
    deadline: change.deadline ?? inSeconds(time, Math.min(offer.maxTimeoutSeconds, windowSecondsMax)),
    witness: {
      to: getAddress(change.to ?? offer.payTo),
      ...(offer.scheme === 'upto' ? { facilitator: getAddress(named) } : {}),
      validAfter: change.validAfter ?? '0',
    },
  }
  checkValidity(time, permit.deadline)
  budget.reserve(BigInt(permit.permitted.amount))
  const signature = await signer.signTypedData({
    domain: permit2Domain(change.chainId ?? Number(offer.network.slice('eip155:'.length))),
    types: permit2Types(offer.scheme),
    primaryType: 'PermitWitnessTransferFrom',
    message: permit2Message(permit),
  } as Parameters<LocalAccount['signTypedData']>[0])
  budget.record({
    ...{ case: deps.case, kind: 'permit', network: offer.network, asset: permit.permitted.token, signature },
    ...{ from: permit.from as Address, to: permit.witness.to, value: permit.permitted.amount },
    ...{ nonce: permit.nonce, validBefore: permit.deadline },
  })
  return encodePayment({
    ...{ x402Version: 2, resource: required.resource, accepted: { ...offer.raw, ...change.accepted } },
    payload: { signature: change.signature?.(signature) ?? signature, permit2Authorization: permit },
  })
}

export type PermitDocument = { payload: { signature: Hex; permit2Authorization: Permit2Authorization } }

export const decodePermit = (payment: string): PermitDocument =>
  JSON.parse(Buffer.from(payment, 'base64').toString('utf8')) as PermitDocument
