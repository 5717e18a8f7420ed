import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { authorizationTypes } from '@assay/protocol/typed-data/transfer-authorization'
import { toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Clock, nowSeconds } from '../kernel/clock.ts'
import type { Rng } from '../kernel/random.ts'

/** How requests reach the application: its own `fetch`, or the global one for a server. */
export type Send = (request: Request) => Response | Promise<Response>

/** A wallet with test USDC that pays whatever is asked. */
export type Buyer = {
  /** Address of the wallet, in lower case. */
  address: Address
  /** For other clients that should pay with the same wallet. */
  privateKey: Hex
  /** Asks, signs the first offer, and asks again with the payment. */
  fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  /** The PAYMENT-SIGNATURE for a 402, to be sent any number of times. */
  sign(challenge: Response, options?: { identifier?: string }): Promise<string>
}

type Offer = {
  scheme: string
  network: string
  amount: string
  asset: Hex
  payTo: Hex
  maxTimeoutSeconds: number
  extra: { name: string; version: string }
}
type PaymentRequired = { resource: unknown; accepts: Offer[] }

export type BuyerDeps = { origin: string; send: Send; clock: Clock; rng: Rng; privateKey: Hex }

export function createBuyer({ origin, send, clock, rng, privateKey }: BuyerDeps): Buyer {
  const account = privateKeyToAccount(privateKey)
  const sign: Buyer['sign'] = async (challenge, { identifier } = {}) => {
    const header = challenge.headers.get('payment-required')
    if (challenge.status !== 402 || header === null) throw new Error(`expected a 402, got ${challenge.status}`)
    const { resource, accepts } = JSON.parse(Buffer.from(header, 'base64').toString()) as PaymentRequired
    const accepted = accepts.find(({ scheme }) => scheme === 'exact')
    if (!accepted) throw new Error('nothing is offered for exact')
    const message = {
      from: account.address,
      to: accepted.payTo,
      value: BigInt(accepted.amount),
      validAfter: 0n,
      validBefore: BigInt(nowSeconds(clock) + accepted.maxTimeoutSeconds),
      nonce: toHex(rng.bytes(32)),
    }
    const signature = await account.signTypedData({
      domain: {
        ...accepted.extra,
        chainId: Number(accepted.network.split(':')[1]),
        verifyingContract: accepted.asset,
      },
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message,
    })
    const authorization = Object.fromEntries(Object.entries(message).map(([name, value]) => [name, String(value)]))
    const extensions =
      identifier === undefined
        ? {}
        : { extensions: { 'payment-identifier': { info: { required: false, id: identifier } } } }
    const payload = { x402Version: 2, resource, accepted, payload: { signature, authorization }, ...extensions }
    return Buffer.from(JSON.stringify(payload)).toString('base64')
  }
  return {
    address: account.address.toLowerCase() as Address,
    privateKey,
    sign,
    fetch: async (input, init) => {
      const isAddress = typeof input === 'string' || input instanceof URL
      const given = isAddress ? new Request(new URL(input, origin), init) : input
      const { url, method, headers, signal } = given
      const body = await given.arrayBuffer()
      // A fresh one each time: a clone is not a Request to frameworks that put their own class in its place.
      const ask = (more: Record<string, string>) => {
        const all = { ...Object.fromEntries(headers), ...more }
        return send(new Request(url, { method, headers: all, signal, ...(body.byteLength > 0 ? { body } : {}) }))
      }
      const challenge = await ask({})
      return challenge.status === 402 && offersIn(challenge) > 0
        ? ask({ 'payment-signature': await sign(challenge) })
        : challenge
    },
  }
}

/** None where the input cannot be bought; the answer says why. */
function offersIn({ headers }: Response): number {
  const required = headers.get('payment-required')
  return required === null
    ? 0
    : (JSON.parse(Buffer.from(required, 'base64').toString()) as PaymentRequired).accepts.length
}
