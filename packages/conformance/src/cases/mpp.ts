import { randomBytes } from 'node:crypto'
import type { Address, Hex } from 'viem'
import { type Case, checkRefused, failed, isServed, passed, skipped, unclear, unsold } from '../case.ts'
import { decodeCredential, type MppChallenge, readChallenges, requestOf, secondsLeft } from '../seller/mpp.ts'
import type { MppBuyer, Seller } from '../seller/seller.ts'
import type { Answer } from '../seller/send.ts'
import { encodePayment, newNonce } from '../seller/sign-payment.ts'
import { inSeconds } from '../time.ts'
import { buyThrough, checkPurchase } from './buy-through.ts'
import { changed, elsewhere } from './quoted.ts'

const needs = ['payment', 'mpp'] as const
const ownChallenge =
  'Bind the challenge to method, URL, body, price and expiry by an HMAC, and rebuild it from your own terms.'

/** A case for sellers that offer the Payment authentication scheme. */
const inMppOnly = (
  about: Omit<Case, 'run' | 'needs'> & Partial<Pick<Case, 'needs'>>,
  run: (seller: Seller, mpp: MppBuyer) => ReturnType<Case['run']>,
): Case => ({
  ...{ needs, ...about },
  run: async (seller) => (seller.mpp === undefined ? skipped('needs MPP') : run(seller, seller.mpp)),
})

/** The same seller for a buyer who pays by credentials. */
const withCredentials = (seller: Seller, mpp: MppBuyer): Seller => ({
  ...seller,
  pay: () => mpp.pay(),
  buy: mpp.buy,
  forNewBuyer: async () => {
    const other = await seller.forNewBuyer()
    return withCredentials(other, other.mpp ?? mpp)
  },
})

const receiptOf = ({ headers }: Answer): string | undefined => headers['payment-receipt'] as string | undefined

const challenge = inMppOnly(
  {
    ...{ id: 'mpp-challenge', level: 'L1', needs: ['mpp'], fix: 'Make a challenge for each 402, from the same terms.' },
    title: 'WWW-Authenticate: Payment asks for what PAYMENT-REQUIRED asks for, once for each caller',
    why: 'The nonce of a payment follows from the challenge: two equal ones are one payment, and other terms another price.',
  },
  async (seller) => {
    const { offer } = seller
    const answers = [await seller.send(), await seller.send()]
    const lists = answers.map((answer) => readChallenges(answer, offer))
    const all = lists.flat()
    if (lists.some((list) => list.length === 0)) return failed('a 402 has no challenge')
    if (new Set(all.map(({ id }) => id)).size < all.length) return failed('two challenges have the same id')
    const other = all.map(requestOf).find((asked) => asked?.amount !== offer.amount || !isSame(asked.recipient, offer))
    if (other) return failed(`a challenge asks for ${other.amount} to ${other.recipient}`)
    if (all.some((one) => secondsLeft(seller.time, one) <= 0)) return failed('a challenge has expired when it is given')
    return passed(`${lists[0]?.length} for each 402, valid for ${secondsLeft(seller.time, all[0] as MppChallenge)} s`)
  },
)

const isSame = (address: string, { payTo }: Seller['offer']) => address.toLowerCase() === payTo.toLowerCase()

const copiesAtOnce = 12

const copies = inMppOnly(
  {
    ...{ id: 'mpp-copies', level: 'L2', title: `One credential, ${copiesAtOnce} copies at once and more in order` },
    why: 'A credential in a log or a proxy buys again.',
    fix: 'Claim payer and nonce before any work. Give nothing again but the stored answer with its receipt.',
  },
  async (seller, mpp) => {
    const credential = await mpp.pay()
    const answers: Answer[] = []
    const charged = await seller.charged(async () => {
      answers.push(...(await Promise.all(Array.from({ length: copiesAtOnce }, () => mpp.buy(credential)))))
      for (let copy = 0; copy < 2; copy += 1) answers.push(await mpp.buy(credential))
    })
    const served = answers.filter(({ status }) => isServed(status))
    const seen = `served ${served.length} of ${answers.length}, charged ${charged ?? 'an unknown number of'} units`
    if ((charged ?? 0n) > seller.price) return failed(`${seen}: charged more than once`)
    if (new Set(served.map((answer) => `${answer.body} ${receiptOf(answer)}`)).size > 1)
      return failed(`${seen}: different answers for one payment`)
    if (served.length === 0) return charged ? failed(`${seen}: nobody was served`) : unclear(seen)
    return passed(served.length === 1 ? seen : `${seen}: the stored answer`)
  },
)

/** The same authorization in the words of x402. */
const inX402 = ({ required, offer }: Seller, credential: string): string => {
  const { type: _, signature, ...authorization } = decodeCredential(credential).payload
  const terms = { resource: required.resource, accepted: offer.raw }
  return encodePayment({ x402Version: 2, ...terms, payload: { signature, authorization } })
}

const bothDialects = inMppOnly(
  {
    ...{ id: 'mpp-both-dialects', level: 'L2', title: 'One authorization sent as MPP and as x402, in either order' },
    why: 'Two readers of one payment, each with its own memory, sell twice for one transfer.',
    fix: 'Key the claim by network, payer and nonce, whichever header brought them.',
  },
  async (seller, mpp) => {
    const statuses: number[] = []
    const charged = await seller.charged(async () => {
      const one = await mpp.pay()
      statuses.push((await mpp.buy(one)).status, (await seller.buy(inX402(seller, one))).status)
      const other = await mpp.pay()
      statuses.push((await seller.buy(inX402(seller, other))).status, (await mpp.buy(other)).status)
    })
    const served = statuses.map(isServed)
    const seen = `answered ${statuses.join(', ')}; charged ${charged ?? 'an unknown number of'} units`
    if ((served[0] && served[1]) || (served[2] && served[3])) return failed(`${seen}: served in both dialects`)
    if (charged !== undefined && charged !== seller.price * BigInt(served.filter(Boolean).length))
      return failed(`${seen}: not the price for each serve`)
    return served[0] ? passed(seen) : unclear(`an honest purchase was answered with ${statuses[0]}`)
  },
)

const altered = inMppOnly(
  {
    ...{ id: 'mpp-altered', level: 'L3', title: 'A challenge that was edited, and authorizations that do not fit it' },
    ...{ why: 'A seller that trusts the echo settles for what the client wrote.', fix: ownChallenge },
  },
  async (seller, mpp) => {
    const less = (seller.price - 1n).toString()
    const changes: Parameters<MppBuyer['pay']>[0][] = [
      { request: { amount: '1' } },
      { request: { recipient: seller.account.address } },
      { challenge: { expires: new Date(seller.time.nowMs() + 40_000).toISOString() } },
      { challenge: { realm: 'elsewhere.invalid' } },
      { challenge: { id: randomBytes(32).toString('base64url') } },
      { challenge: { opaque: Buffer.from('{"n":"other"}').toString('base64url') } },
      { authorization: { nonce: newNonce() } },
      { authorization: { value: less } },
      { authorization: { to: seller.account.address } },
      { signature: changed },
    ]
    const statuses: number[] = []
    const charged = await seller.charged(async () => {
      for (const change of changes) statuses.push((await mpp.buy(await mpp.pay(change))).status)
    })
    return checkRefused(statuses, { charged, price: seller.price })
  },
)

const otherRequest = inMppOnly(
  {
    ...{ id: 'mpp-other-request', level: 'L3', fix: ownChallenge },
    title: 'A credential for one query or body, used for another',
    why: 'A buyer pays for the cheap thing and takes the dear one, or takes two for one.',
  },
  async (seller, mpp) => {
    const paid = await mpp.pay()
    const first = await mpp.buy(paid)
    if (!isServed(first.status)) return unsold(first)
    const { status } = await mpp.buy(paid, elsewhere(seller))
    if (isServed(status)) return failed('a credential that was used is served for another request')
    const statuses = [status]
    const charged = await seller.charged(async () => {
      statuses.push((await mpp.buy(await mpp.pay(), elsewhere(seller))).status)
    })
    return checkRefused(statuses, { charged, price: seller.price })
  },
)

const waitSecondsMax = 100

const expired = inMppOnly(
  {
    ...{ id: 'mpp-expired', level: 'L3', title: 'A challenge of the seller that has expired, paid in time' },
    why: 'An old price is paid when it suits the buyer.',
    fix: 'Refuse challenges after their expiry by your own clock, with a fresh one.',
  },
  async (seller, mpp) => {
    const { first } = mpp.challenges
    if (first?.['expires'] === undefined) return skipped('challenges have no expiry')
    const left = secondsLeft(seller.time, first) + 1
    if (left > waitSecondsMax) return skipped(`challenges are valid for another ${left} s`)
    await seller.time.waitUntil(seller.time.nowMs() + left * 1_000)
    let status = 0
    const charged = await seller.charged(async () => {
      const credential = await mpp.pay({ authorization: { validBefore: inSeconds(seller.time, 50) } }, first)
      ;({ status } = await mpp.buy(credential))
    })
    return checkRefused([status], { charged, price: seller.price })
  },
)

const failsAfter = inMppOnly(
  {
    ...{ id: 'mpp-5xx-after-settle', level: 'L4', needs: [...needs, 'chain', 'facilitator'] },
    title: 'A payment by MPP that the facilitator settles and answers with 500',
    why: 'A fresh challenge makes the client pay a second time for one answer.',
    fix: 'Answer 503 with Retry-After while the outcome is unknown; a new challenge only when no money moved.',
  },
  async (seller, mpp) =>
    checkPurchase(
      seller,
      await buyThrough(withCredentials(seller, mpp), { faults: ['fails_after'], identified: true }),
    ),
)

const lostAnswer = inMppOnly(
  {
    ...{ id: 'mpp-lost-answer', level: 'L4', needs: [...needs, 'chain', 'loopback'] },
    title: 'A payment by MPP whose answer is lost after one byte, and the buyer asks again',
    why: 'The buyer has paid and gets nothing, or pays twice.',
    fix: 'Store the answer before money moves, and give it again for the same credential.',
  },
  async (seller, mpp) => {
    const first = (buyer: Seller, credential: string) => buyer.buy(credential, { cutAfterBytes: 1 })
    return checkPurchase(seller, await buyThrough(withCredentials(seller, mpp), { identified: true, first }))
  },
)

const receipt = inMppOnly(
  {
    ...{ id: 'mpp-receipt', level: 'L5', title: 'Payment-Receipt names the transfer, and is on paid answers only' },
    why: 'Without it a buyer cannot prove what was paid; on an error it proves what did not happen.',
    fix: 'Send Payment-Receipt with status, method, timestamp and reference with every paid answer, and no other.',
  },
  async (seller, mpp) => {
    const { account, offer, chain, price } = seller
    const refused = await mpp.buy(await mpp.pay({ request: { amount: '1' } }))
    if (!isServed(refused.status) && receiptOf(refused) !== undefined) return failed('a receipt for what was refused')
    const answer = await mpp.buy(await mpp.pay())
    if (!isServed(answer.status)) return unsold(answer)
    const given = readReceipt(receiptOf(answer))
    if (given === undefined) return failed('no Payment-Receipt')
    if (given['status'] !== 'success') return failed(`status is ${String(given['status'])}`)
    if (!/^0x[0-9a-f]{64}$/i.test(String(given['reference']))) return failed('reference is not a transaction')
    if (chain === undefined) return passed('well formed; the chain was not read')
    const moved = await chain.movedBy(given['reference'] as Hex, account.address, offer.payTo as Address)
    return moved === price
      ? passed('the transaction moved the price')
      : failed(`the transaction moved ${moved ?? 'nothing'}`)
  },
)

function readReceipt(text: string | undefined): Record<string, unknown> | undefined {
  try {
    return JSON.parse(Buffer.from(text ?? '', 'base64url').toString('utf8')) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** Before those that make the facilitator fail. */
export const mppCases: readonly Case[] = [challenge, copies, bothDialects, altered, otherRequest, receipt]
export const mppFailureCases: readonly Case[] = [failsAfter, lostAnswer]
/** Last: by then the first challenge of the run has expired. */
export const mppExpiredCase: Case = expired
