import { randomBytes } from 'node:crypto'
import { type Finding, failed, isServed, listOf, passed, skipped, unclear } from '../case.ts'
import type { FacilitatorFault } from '../facilitator/faults.ts'
import type { Seller } from '../seller/seller.ts'
import type { Answer } from '../seller/send.ts'
import type { PaymentChange } from '../seller/sign-payment.ts'
import { sleep } from '../time.ts'

/** What one purchase looked like from outside, from the first request until it was served or patience ended. */
export type PurchaseOutcome = {
  statuses: readonly number[]
  served: number
  /** Units that left the wallet of the buyer. */
  charged: bigint
  /** A 402 was answered for a payment that had been taken, or was taken later. */
  askedAgain: boolean
  /** The faults were planned, and the seller never came to the facilitator. */
  isUntouched: boolean
  last: Answer
}

export type Through = {
  faults?: readonly FacilitatorFault[]
  /** A reason to trust the facilitator no more: begun afresh where the seller can be restarted. */
  isLie?: boolean
  /** How long a buyer asks again, as a part of what the run allows. */
  patience?: number
  /** The payment has a secret identifier where the seller takes one, and nothing else is ever signed for the purchase. */
  identified?: boolean
  /** The wallet of the run pays, not a new one. */
  isSameBuyer?: boolean
  /** The first request, when it is not a plain one. */
  first?(seller: Seller, payment: string): Promise<Answer>
  /** What happens before the buyer asks again. */
  meanwhile?(seller: Seller): Promise<void>
}

const pauseMs = 500

/**
 * A careful buyer: sends the same payment again on 5xx and lost answers, a fresh one only when the answer says that the old one
 * was used by its own earlier request (409), and obeys nothing else.
 */
export async function buyThrough(given: Seller, through: Through = {}): Promise<PurchaseOutcome> {
  if (through.isLie) await given.restart?.()
  const seller = through.isSameBuyer ? given : await given.forNewBuyer()
  await seller.facilitator?.plan(through.faults ?? [])
  const statuses: number[] = []
  let last: Answer = { status: 0, headers: {}, body: '' }
  const note = (answer: Answer) => {
    statuses.push(answer.status)
    last = answer
  }
  const work = async () => {
    const payment = await seller.pay(through.identified ? identified(seller) : {})
    note(await (through.first ?? ((one, given) => one.buy(given)))(seller, payment))
    await through.meanwhile?.(seller)
    const untilMs = Date.now() + seller.patienceMs * (through.patience ?? 1)
    while (!isServed(last.status) && last.status !== 402 && !isCredited(last) && Date.now() < untilMs) {
      await sleep(pauseMs)
      note(await seller.buy(payment))
      if (last.status === 409 && !isCredited(last) && !through.identified && Date.now() < untilMs)
        note(await seller.buy(await seller.pay()))
    }
  }
  const charged = (await seller.charged(work)) ?? 0n
  const left = (await seller.facilitator?.state())?.planned.length ?? 0
  const isUntouched = left > 0 && left === through.faults?.length
  await seller.facilitator?.plan([])
  const served = statuses.filter(isServed).length
  return { statuses, served, charged, askedAgain: charged > 0n && statuses.includes(402), isUntouched, last }
}

/** A payment with a secret identifier, where the seller takes one. */
export const identified = ({ required }: Seller): PaymentChange =>
  required.extensions['payment-identifier'] === undefined
    ? {}
    : { document: { extensions: { 'payment-identifier': { info: { required: false, id: newIdentifier() } } } } }

const newIdentifier = () => `pay_${randomBytes(16).toString('hex')}`

/** What a buyer may expect of every purchase, whatever goes wrong behind the seller. */
export function checkPurchase(
  seller: Seller,
  { statuses, served, charged, askedAgain, isUntouched, last }: PurchaseOutcome,
): Finding {
  const list = listOf(statuses)
  const seen = `answered ${list}; charged ${charged} of ${seller.price}`
  if (isUntouched) return skipped(`${seen}: the seller has stopped settling through this facilitator`)
  if (charged > seller.price) return failed(`${seen}: charged more than once`)
  if (served > 0 && charged < seller.price) return failed(`${seen}: served, and the money did not arrive`)
  if (askedAgain) return failed(`${seen}: asks for another payment for money that it has`)
  if (charged === seller.price && served === 0 && !isCredited(last))
    return failed(`${seen}: charged, and neither served nor credited`)
  return served === 0 && charged === 0n && !statuses.includes(402) && !statuses.includes(503)
    ? unclear(seen)
    : passed(seen)
}

/** The seller says that the money is the buyer's. */
const isCredited = ({ status, body }: Answer): boolean => status === 409 && /credit/.test(body)
