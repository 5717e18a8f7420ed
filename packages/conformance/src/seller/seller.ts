import { type Offer, type PaymentRequired, parsePaymentRequired } from '@assay/sdk'
import type { LocalAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { FacilitatorControl } from '../facilitator/control.ts'
import type { Budget } from './budget.ts'
import { type Chain, openChain } from './chain.ts'
import { createPace } from './pace.ts'
import { type Answer, type SendOptions, send } from './send.ts'
import { type PaymentChange, signPayment } from './sign-payment.ts'

/** One exchange of a case, for its report. Values of payment headers are left out: the signatures are listed apart. */
export type Exchange = { request: string; headers: readonly string[]; status: number; bytes: number }

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
  isLoopback: boolean
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
  account: LocalAccount
  budget: Budget
  rpc?: string | undefined
  facilitator?: FacilitatorControl | undefined
  restart?: (() => Promise<void>) | undefined
  patienceMs?: number
  isThorough?: boolean
}

const patienceMsUsual = 30_000

export class NotASeller extends Error {}

/** Asks the route for its price. Throws `NotASeller` when it has none. */
export async function openSeller(input: SellerInput): Promise<(caseId: string, log: Exchange[]) => Seller> {
  const url = new URL(input.url)
  const isLoopback = ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)
  const method = input.body === undefined ? 'GET' : 'POST'
  const json = jsonHeaders(input.body)
  const pace = createPace(isLoopback)
  const required = await askPrice(input.url, input.body)
  const offer = payableOffer(required)

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
    return {
      ...{ url, method, body: input.body, required, offer, isLoopback, chain },
      ...{ account, price: BigInt(offer.amount) },
      ...{ facilitator: input.facilitator, restart: input.restart, patienceMs: input.patienceMs ?? patienceMsUsual },
      isThorough: input.isThorough ?? false,
      send: sendLogged,
      pay: (change) => signPayment({ account, required, offer, budget: input.budget, case: caseId }, change),
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
        const other = privateKeyToAccount(generatePrivateKey())
        await input.facilitator.fund(other.address)
        return openFor(other, caseId, log)
      },
    }
  }
  return (caseId, log) => openFor(input.account, caseId, log)
}

const jsonHeaders = (body: string | undefined): Record<string, string> =>
  body === undefined ? {} : { 'content-type': 'application/json' }

async function askPrice(url: string, body: string | undefined): Promise<PaymentRequired> {
  const method = body === undefined ? 'GET' : 'POST'
  const first = await send(new URL(url), { method, headers: jsonHeaders(body), body })
  const header = first.headers['payment-required']
  if (first.status !== 402 || typeof header !== 'string')
    throw new NotASeller(`${url} answered ${first.status === 0 ? 'nothing' : first.status} without PAYMENT-REQUIRED`)
  return parsePaymentRequired(header)
}

function payableOffer({ accepts }: PaymentRequired): Offer {
  const offer = accepts.find(({ scheme, network }) => scheme === 'exact' && network.startsWith('eip155:'))
  if (offer === undefined) throw new NotASeller('the route offers no payment by the exact scheme on an EVM network')
  return offer
}

/** The offer that would be paid. */
export const quoteOf = async (url: string, body: string | undefined): Promise<Offer> =>
  payableOffer(await askPrice(url, body))
