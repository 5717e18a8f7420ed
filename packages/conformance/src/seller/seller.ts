import { isLoopbackHost } from '@assay/protocol/loopback'
import { permit2Address } from '@assay/protocol/typed-data/permit2'
import { type Offer, type PaymentRequired, parsePaymentRequired } from '@assay/sdk'
import type { LocalAccount } from 'viem'
import type { FacilitatorControl } from '../facilitator/control.ts'
import { systemTime, type Time } from '../time.ts'
import type { Budget } from './budget.ts'
import { type Chain, openChain } from './chain.ts'
import {
  type Challenges,
  type CredentialChange,
  keepChallenges,
  type MppChallenge,
  readChallenges,
  signCredential,
} from './mpp.ts'
import { createPace } from './pace.ts'
import { type Answer, type SendOptions, send } from './send.ts'
import { newAccount, type PaymentChange, type SignDeps, signPayment } from './sign-payment.ts'
import { type Permit2Offer, type PermitChange, permit2Offers, signPermit } from './sign-permit.ts'
import { type Channel, channelOffer, newChannel } from './sign-voucher.ts'

/** One exchange of a case, for its report. Values of payment headers are left out: the signatures are listed apart. */
export type Exchange = { request: string; headers: readonly string[]; status: number; bytes: number }

/** The same purchase by the Payment authentication scheme. */
export type MppBuyer = {
  challenges: Challenges
  /** The value of Authorization, for a new challenge unless one is given. */
  pay(change?: CredentialChange, challenge?: MppChallenge): Promise<string>
  buy(credential: string, options?: SendOptions): Promise<Answer>
}

/** The same purchase by a Permit2 signature, of the scheme `upto` or `exact`. */
export type Permit2Buyer = {
  offer: Permit2Offer
  price: bigint
  pay(change?: PermitChange): Promise<string>
  /** What Permit2 may take from the paying wallet: exactly what a case needs, and nothing after it. */
  approve(value: bigint): Promise<void>
}

/** The seller under test: its route, its own terms, and a wallet that can pay them. */
export type Seller = {
  url: URL
  method: 'GET' | 'POST'
  body: string | undefined
  required: PaymentRequired
  offer: Offer
  price: bigint
  account: LocalAccount
  /** Absent where no chain is known. */
  chain: Chain | undefined
  facilitator: FacilitatorControl | undefined
  /** Another paid route of the seller, where one was named. */
  otherRoute: { url: URL; price: bigint } | undefined
  /** Absent where the seller does not offer it. */
  mpp: MppBuyer | undefined
  permit2: readonly Permit2Buyer[]
  /** A channel of the paying wallet that nothing was paid into yet; absent where the seller does not offer them. */
  newChannel: (() => Channel) | undefined
  /** Purchases with an identifier, kept for the cases that come back for them. */
  bought: { payment: string; body: string }[]
  isLoopback: boolean
  time: Time
  /** How long a buyer asks again for what it paid for. */
  patienceMs: number
  /** Every place is tried where a few would do. */
  isThorough: boolean
  /** Starts the seller again after it was killed; absent where no command is known. */
  restart: (() => Promise<void>) | undefined
  send(options?: SendOptions): Promise<Answer>
  /** The value of PAYMENT-SIGNATURE for this route, or changed. */
  pay(change?: PaymentChange): Promise<string>
  /** Sends the request with a payment. */
  buy(payment: string, options?: SendOptions): Promise<Answer>
  /** How many units left the paying wallet during `work`; undefined where no chain is known. */
  charged(work: () => Promise<unknown>): Promise<bigint | undefined>
  /**
   * The same seller for another wallet with test money: a seller may rightly wait with one whose last payment is in doubt.
   * The same wallet where nobody gives test money.
   */
  forNewBuyer(): Promise<Seller>
}

export type SellerInput = {
  url: string
  body?: string | undefined
  /** Another paid route of the same seller. */
  otherUrl?: string | undefined
  account: LocalAccount
  budget: Budget
  rpc?: string | undefined
  facilitator?: FacilitatorControl | undefined
  restart?: (() => Promise<void>) | undefined
  patienceMs?: number
  isThorough?: boolean
  time?: Time | undefined
}

const defaultPatienceMs = 30_000

export class NotASeller extends Error {}

/** Asks the route for its price. Throws `NotASeller` when it has none. */
export async function openSeller(input: SellerInput): Promise<(caseId: string, log: Exchange[]) => Seller> {
  const url = new URL(input.url)
  const isLoopback = isLoopbackHost(url.hostname)
  const method = input.body === undefined ? 'GET' : 'POST'
  const json = jsonHeaders(input.body)
  const pace = createPace(isLoopback)
  const time = input.time ?? systemTime
  const { answer, required } = await askPrice(input.url, input.body)
  const offer = payableOffer(required)
  const otherRoute = await readOtherRoute(input.otherUrl, url)
  const [firstChallenge] = readChallenges(answer, offer)
  let challenges: Challenges | undefined
  const bought: Seller['bought'] = []

  const openFor = (account: LocalAccount, caseId: string, log: Exchange[]): Seller => {
    const chain = input.rpc === undefined ? undefined : openChain(input.rpc, offer, account)
    const sendLogged = async (options: SendOptions = {}): Promise<Answer> => {
      await pace()
      const body = 'body' in options ? options.body : input.body
      const given = { method, ...options, headers: { ...json, ...options.headers }, body }
      const answer = await send(url, given)
      log.push({
        request: `${given.method} ${given.path ?? `${url.pathname}${url.search}`}`.slice(0, 300),
        headers: Object.keys(given.headers).slice(0, 20),
        status: answer.status,
        bytes: answer.body.length,
      })
      return answer
    }
    const deps: SignDeps = { account, required, offer, budget: input.budget, case: caseId, time }
    challenges ??=
      firstChallenge && keepChallenges(firstChallenge, async () => readChallenges(await sendLogged(), offer)[0], time)
    const mpp: MppBuyer | undefined = challenges && mppBuyer(challenges, deps, sendLogged)
    const byChannel = channelOffer(required, offer.network)
    const permit2 = permit2Offers(required, offer.network).map((one) => permit2Buyer(one, deps, chain))
    return {
      ...{ url, method, body: input.body, required, offer, isLoopback, time, chain, otherRoute, mpp, permit2, bought },
      ...{ account, price: BigInt(offer.amount) },
      newChannel: byChannel && (() => newChannel({ ...deps, offer: byChannel })),
      ...{ facilitator: input.facilitator, restart: input.restart, patienceMs: input.patienceMs ?? defaultPatienceMs },
      isThorough: input.isThorough ?? false,
      send: sendLogged,
      pay: (change) => signPayment(deps, change),
      buy: (payment, options = {}) =>
        sendLogged({ ...options, headers: { 'payment-signature': payment, ...options.headers } }),
      charged: async (work) => {
        const before = await chain?.balance(account.address)
        await work()
        const after = await chain?.balance(account.address)
        return before === undefined || after === undefined ? undefined : before - after
      },
      forNewBuyer: async () => {
        if (input.facilitator === undefined) return openFor(account, caseId, log)
        const other = newAccount()
        await input.facilitator.fund(other.address)
        return openFor(other, caseId, log)
      },
    }
  }
  return (caseId, log) => openFor(input.account, caseId, log)
}

const jsonHeaders = (body: string | undefined): Record<string, string> =>
  body === undefined ? {} : { 'content-type': 'application/json' }

function mppBuyer(challenges: Challenges, deps: SignDeps, sendTo: Seller['send']): MppBuyer {
  return {
    challenges,
    pay: async (change, challenge) => signCredential(deps, challenge ?? (await challenges.next()), change),
    buy: (credential, options = {}) =>
      sendTo({ ...options, headers: { authorization: credential, ...options.headers } }),
  }
}

function permit2Buyer(offer: Permit2Offer, deps: SignDeps, chain: Chain | undefined): Permit2Buyer {
  const { budget, account } = deps
  return {
    ...{ offer, price: BigInt(offer.amount), pay: (change) => signPermit({ ...deps, offer }, change) },
    approve: async (value) => {
      if (chain === undefined) throw new Error('an allowance needs a chain')
      budget.reserve(value)
      const transaction = await chain.approvePermit2(value)
      budget.record({
        ...{ case: deps.case, kind: 'approval', network: offer.network, asset: offer.asset, from: account.address },
        ...{ to: permit2Address, value: value.toString(), nonce: '', validBefore: '', signature: transaction },
      })
    },
  }
}

async function readOtherRoute(other: string | undefined, url: URL): Promise<Seller['otherRoute']> {
  if (other === undefined) return undefined
  const otherUrl = new URL(other, url)
  if (otherUrl.origin !== url.origin) throw new NotASeller(`${otherUrl.origin} is not the seller of ${url.origin}`)
  const { required } = await askPrice(otherUrl.href, undefined)
  return { url: otherUrl, price: BigInt(payableOffer(required).amount) }
}

async function askPrice(url: string, body: string | undefined): Promise<{ answer: Answer; required: PaymentRequired }> {
  const method = body === undefined ? 'GET' : 'POST'
  const answer = await send(new URL(url), { method, headers: jsonHeaders(body), body })
  const header = answer.headers['payment-required']
  if (answer.status === 0) throw new NotASeller(`${url} did not answer. Start the seller first, or use --start.`)
  if (answer.status !== 402 || typeof header !== 'string')
    throw new NotASeller(`${url} answered ${answer.status} without PAYMENT-REQUIRED. Give the address of a paid route.`)
  return { answer, required: parsePaymentRequired(header) }
}

function payableOffer({ accepts }: PaymentRequired): Offer {
  const offer = accepts.find(
    ({ scheme, network, extra }) =>
      scheme === 'exact' && network.startsWith('eip155:') && extra['assetTransferMethod'] !== 'permit2',
  )
  if (offer === undefined)
    throw new NotASeller('the route offers no payment by the exact scheme (EIP-3009) on an EVM network')
  return offer
}

/** The offer that would be paid. */
export const quoteOf = async (url: string, body: string | undefined): Promise<Offer> =>
  payableOffer((await askPrice(url, body)).required)
