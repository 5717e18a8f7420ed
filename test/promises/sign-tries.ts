import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { permit2Address } from '../../packages/protocol/src/typed-data/permit2.ts'
import type { Devnet } from '../../packages/till/src/devnet/index.ts'
import { decodeJson, mppClient } from '../harness/mpp-client.ts'
import { approvePermit2, signPermit } from '../harness/permit2-client.ts'
import { sendTransaction } from '../harness/send-transaction.ts'
import { decodeHeader, encodePayload, type PaymentRequired, signPayment } from '../harness/till-fixture.ts'
import { isCharged } from '../harness/token-balance.ts'
import type { Dice } from './proof.ts'
import { meteredPath, proofPath } from './proof-node.ts'

/** One signed payment for a request. */
export type Signed = {
  headers: Record<string, string>
  name: string
  /** It carries the identifier of its purchase. */
  named: boolean
  isCharged(): Promise<boolean>
}

export type Try = (chain: Devnet, buyer: PrivateKeyAccount, url: string, identifier?: string) => Promise<Signed>

export type Signing = {
  approve?(chain: Devnet, buyer: PrivateKeyAccount): Promise<unknown>
  purchase(dice: Dice): { path: string; sign: Try }
}

const validSeconds = 20
const endOf = () => BigInt(Math.floor(Date.now() / 1000) + validSeconds)
const named = (identifier: string | undefined) => (identifier === undefined ? {} : { identifier })

const exact: Try = async (chain, buyer, url, identifier) => {
  const payload = await signPayment(buyer, await offerOf(url), { validBefore: endOf(), ...named(identifier) })
  const nonce = String(payload.payload.authorization['nonce'])
  return {
    ...{ headers: { 'payment-signature': encodePayload(payload) }, name: `exact ${nonce.slice(2, 8)}` },
    named: identifier !== undefined,
    isCharged: () => isCharged(chain, buyer.address, nonce),
  }
}

const permit =
  (scheme: 'exact' | 'upto'): Try =>
  async (chain, buyer, url, identifier) => {
    const payload = await signPermit(buyer, await offerOf(url), { scheme, deadline: endOf(), ...named(identifier) })
    const nonce = BigInt(payload.payload.permit2Authorization.nonce)
    return {
      ...{
        headers: { 'payment-signature': encodePayload(payload) },
        name: `${scheme} by permit ${nonce % 1_000_000n}`,
      },
      named: identifier !== undefined,
      isCharged: () => isPermitUsed(chain, buyer.address, nonce),
    }
  }

/** The challenge is the name of its purchase: it has no other. */
const mpp: Try = async (chain, buyer, url) => {
  const credential = await mppClient(buyer).createCredential(await challengeOf(url))
  const { payload } = decodeJson(credential.slice('Payment '.length)) as { payload: { nonce: string } }
  return {
    ...{ headers: { authorization: credential }, name: `mpp ${payload.nonce.slice(2, 8)}`, named: false },
    isCharged: () => isCharged(chain, buyer.address, payload.nonce),
  }
}

export const byExact: Signing = { purchase: () => ({ path: proofPath, sign: exact }) }

/** One purchase in four is metered, which only `upto` charges for what was used; the others change their method. */
export const byEveryMethod: Signing = {
  approve: async (chain, buyer) => {
    await chain.control.fund(buyer.address.toLowerCase() as Address, { microUsdc: 0n })
    await sendTransaction(chain, buyer, { to: chain.usdc, data: approvePermit2(10_000_000_000n) })
  },
  purchase: (dice) =>
    dice.below(4) === 0
      ? { path: meteredPath, sign: permit('upto') }
      : { path: proofPath, sign: (...given) => dice.pick([exact, mpp, permit('exact')])(...given) },
}

/** nonceBitmap of Permit2. */
async function isPermitUsed({ request }: Devnet, owner: string, nonce: bigint): Promise<boolean> {
  const word = (value: bigint) => value.toString(16).padStart(64, '0')
  const data: Hex = `0x4fe02b44${word(BigInt(owner))}${word(nonce >> 8n)}`
  const bitmap = BigInt((await request('eth_call', [{ to: permit2Address, data }, 'latest'])) as string)
  return ((bitmap >> (nonce & 0xffn)) & 1n) === 1n
}

const offerOf = async (url: string) =>
  decodeHeader<PaymentRequired>((await challengeOf(url)).headers.get('payment-required'))

/** A 402, also of a node whose calls fail now and then. */
async function challengeOf(url: string): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    const response = await fetch(url).catch(() => undefined)
    if (response?.status === 402) return response
    await response?.arrayBuffer()
    if (tries >= 20) throw new Error(`${url}: expected 402, got ${response?.status}`)
    await sleep(200)
  }
}
