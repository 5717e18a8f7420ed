import type { Hex } from 'viem'
import { type Case, checkRefused, failed, isServed, listOf, passed, skipped, unclear, unsold } from '../case.ts'
import type { Seller } from '../seller/seller.ts'
import type { SendOptions } from '../seller/send.ts'
import { decodePayment, encodePayment, newAccount, type PaymentChange } from '../seller/sign-payment.ts'
import { inSeconds } from '../time.ts'
import { mirrored } from './once.ts'

const level = 'L3' as const

/** Payments that must buy nothing and take nothing. */
const refuses = (
  about: Pick<Case, 'id' | 'title' | 'why' | 'fix'>,
  make: (seller: Seller) => readonly PaymentChange[],
): Case => ({
  ...{ level, needs: ['payment'] as const },
  ...about,
  run: async (seller) => {
    const statuses: number[] = []
    const charged = await seller.charged(async () => {
      for (const change of make(seller)) statuses.push((await seller.buy(await seller.pay(change))).status)
    })
    return checkRefused(statuses, { charged, price: seller.price })
  },
})

/** One byte is another one, whatever it was. */
export function changed(signature: Hex): Hex {
  const byte = Number.parseInt(signature.slice(20, 22), 16) ^ 0xff
  return `${signature.slice(0, 20)}${byte.toString(16).padStart(2, '0')}${signature.slice(22)}` as Hex
}

const ownTerms = 'Compare the authorization with the stored quote, never with what the client says was accepted.'

const underpay = refuses(
  { id: 'underpay', title: 'Less than the price', why: 'The answer is sold for a fraction.', fix: ownTerms },
  ({ price }) => {
    const less = (price - 1n).toString()
    return [
      { authorization: { value: less } },
      { authorization: { value: less }, accepted: { amount: less } },
      { authorization: { value: '0' }, accepted: { amount: '0' } },
      { authorization: { value: less }, accepted: { amount: `${less}.9` } },
    ]
  },
)

const otherPayee = refuses(
  {
    id: 'other-payee',
    title: 'Money for the buyer itself, or for a stranger',
    why: 'The answer is given away.',
    fix: ownTerms,
  },
  ({ account }) => {
    const { address } = newAccount()
    return [
      { authorization: { to: account.address } },
      { authorization: { to: account.address }, accepted: { payTo: account.address } },
      { authorization: { to: address }, accepted: { payTo: address } },
    ]
  },
)

const otherAsset = refuses(
  {
    id: 'other-asset',
    title: 'A token that is not the one quoted',
    why: 'Worthless tokens buy the answer.',
    fix: ownTerms,
  },
  () => {
    const { address } = newAccount()
    return [{ verifyingContract: address }, { verifyingContract: address, accepted: { asset: address } }]
  },
)

const otherChain = refuses(
  { id: 'other-chain', title: 'A signature for another chain', why: 'Test money buys the answer.', fix: ownTerms },
  () => [
    { chainId: 1 },
    { chainId: 1, accepted: { network: 'eip155:1' } },
    { chainId: 31337, accepted: { network: 'eip155:31337' } },
  ],
)

const time = refuses(
  {
    id: 'expiry',
    title: 'Expired, not yet valid, and about to expire',
    why: 'A payment that cannot settle in time is served and never taken.',
    fix: 'Require validBefore to be later than the settlement needs, by your own clock, again just before settling.',
  },
  ({ time }) => [
    { authorization: { validBefore: inSeconds(time, -1) } },
    { authorization: { validAfter: inSeconds(time, 45), validBefore: inSeconds(time, 59) } },
    { authorization: { validBefore: inSeconds(time, 1) } },
    { authorization: { validAfter: '10', validBefore: '9' } },
  ],
)

const signatures = refuses(
  {
    id: 'signature',
    title: 'Signatures of somebody else, changed, mirrored and empty',
    why: 'Anybody pays with the wallet of anybody.',
    fix: 'Verify the signature as the token does, low s and 65 bytes included, before any work.',
  },
  ({ account }) => [
    { account: newAccount(), authorization: { from: account.address } },
    { signature: changed },
    { signature: mirrored },
    { signature: () => `0x${'00'.repeat(65)}` },
    { signature: () => '0x' },
  ],
)

const noFunds = refuses(
  {
    id: 'no-funds',
    title: 'A wallet that has nothing',
    why: 'The answer is served before settlement fails.',
    fix: 'Settle before the answer leaves.',
  },
  () => [{ account: newAccount() }],
)

const schemes = refuses(
  {
    id: 'schemes',
    title: 'Versions and schemes that were not offered',
    why: 'A reader that ignores the scheme applies the rules of another one.',
    fix: 'Match scheme and version against the quote.',
  },
  () => [
    { document: { x402Version: 1 } },
    { document: { x402Version: 99 } },
    { accepted: { scheme: 'upto' } },
    { accepted: { scheme: 'free' } },
  ],
)

const broken: Case = {
  ...{ id: 'broken-documents', level, needs: ['payment'] },
  title: 'Payments that are cut, doubled, deep, or have strange numbers',
  why: 'Two readers of one document see different amounts.',
  fix: 'Parse strictly: no duplicate keys, decimal integers only, bounded depth and size.',
  run: async (seller) => {
    const good = decodePayment(await seller.pay())
    const text = JSON.stringify(good)
    const authorization = good.payload.authorization
    const valued = (value: string) => ({
      ...good,
      payload: { ...good.payload, authorization: { ...authorization, value } },
    })
    const payments = [
      Buffer.from(text.slice(0, -10)).toString('base64'),
      Buffer.from(text.replace('{', '{"payload":{},')).toString('base64'),
      encodePayment([good]),
      encodePayment({ ...good, payload: null }),
      Buffer.from(`${'['.repeat(5_000)}${']'.repeat(5_000)}`).toString('base64'),
      ...['-1', '1e3', '0x10', ' 1000', '1000.0', '9'.repeat(90)].map((value) => encodePayment(valued(value))),
    ]
    const statuses: number[] = []
    const charged = await seller.charged(async () => {
      for (const payment of payments) statuses.push((await seller.buy(payment)).status)
    })
    return checkRefused(statuses, { charged, price: seller.price })
  },
}

/** The request with another query. */
export const elsewhere = ({ url: { pathname, search } }: Seller): SendOptions => ({
  path: `${pathname}${search === '' ? '?other=1' : `${search}x`}`,
})

const bindFix = 'Bind the claim to method, URL, query and body of the first request; answer 409 for any other.'

const otherResource: Case = {
  ...{ id: 'other-resource', level, fix: bindFix, needs: ['payment'] },
  title: 'A payment made for one query or body, used for another',
  why: 'A buyer pays for the cheap thing and takes the dear one, or takes two for one.',
  run: async (seller) => {
    const payment = await seller.pay()
    const first = await seller.buy(payment)
    if (!isServed(first.status)) return unsold(first)
    const { pathname, search } = seller.url
    const body =
      seller.body === undefined ? {} : { body: seller.body.replace(/[a-z]/, (letter) => (letter === 'x' ? 'y' : 'x')) }
    const statuses = [
      (await seller.buy(payment, elsewhere(seller))).status,
      (await seller.buy(payment, { path: `${pathname}${search === '' ? '?' : search}&again=1` })).status,
      ...(seller.body === undefined ? [] : [(await seller.buy(payment, body)).status]),
    ]
    return statuses.some(isServed) ? failed(`served (${listOf(statuses)})`) : passed(`refused with ${listOf(statuses)}`)
  },
}

const otherRoute: Case = {
  ...{ id: 'other-route', level, fix: bindFix, needs: ['payment', 'chain', 'other_route'] },
  title: 'A payment made for one route, used at another one of the seller',
  why: 'The cheapest route of a seller opens all of them.',
  run: async (seller) => {
    if (seller.otherRoute === undefined) return skipped('needs another route')
    const { url, price } = seller.otherRoute
    const there: SendOptions = { path: `${url.pathname}${url.search}`, method: 'GET', body: undefined }
    const payment = await seller.pay()
    const first = await seller.buy(payment)
    if (!isServed(first.status)) return unsold(first)
    const again = (await seller.buy(payment, there)).status
    if (isServed(again)) return failed('a payment that was used at one route is served at another one')
    const statuses = [again]
    const charged = await seller.charged(async () => {
      statuses.push((await seller.buy(await seller.pay(), there)).status)
    })
    return checkRefused(statuses, { charged, price })
  },
}

const otherQuote: Case = {
  ...{ id: 'altered-quote', level, needs: ['payment'] },
  title: 'The quote echoed with changed terms',
  why: 'A seller that trusts the echo settles for what the client wrote.',
  fix: ownTerms,
  run: async (seller) => {
    const { offer, price } = seller
    const changes: PaymentChange[] = [
      { accepted: { amount: (price * 2n).toString() } },
      { accepted: { maxTimeoutSeconds: offer.maxTimeoutSeconds * 1_000 }, authorization: { value: '1' } },
      { document: { accepted: null }, authorization: { value: '1' } },
      { document: { accepted: [] }, authorization: { value: '1' } },
    ]
    const statuses: number[] = []
    const charged = await seller.charged(async () => {
      for (const change of changes) statuses.push((await seller.buy(await seller.pay(change))).status)
    })
    if (charged !== undefined && charged % price !== 0n) return failed(`took ${charged} units, not the price`)
    return statuses.slice(1).some(isServed)
      ? failed(`served (${listOf(statuses)})`)
      : passed(`answered ${listOf(statuses)}`)
  },
}

const bothHeaders: Case = {
  ...{ id: 'two-payments', level, needs: ['payment'] },
  title: 'Two payment headers in one request',
  why: 'The proxy checks one and the seller the other.',
  fix: 'Answer 400 when PAYMENT-SIGNATURE and X-PAYMENT come together.',
  run: async (seller) => {
    const [one, other] = [await seller.pay(), await seller.pay({ authorization: { value: '1' } })]
    let status = 0
    const charged = await seller.charged(async () => {
      ;({ status } = await seller.buy(one, { headers: { 'x-payment': other } }))
    })
    if (charged !== undefined && charged > 0n && !isServed(status))
      return failed(`charged ${charged}, answered ${status}`)
    if (isServed(status) && charged !== undefined && charged < seller.price) return failed(`served for ${charged}`)
    return isServed(status) ? unclear(`served by one of them`) : passed(`refused with ${status}`)
  },
}

const overdraw: Case = {
  ...{ id: 'overdraw', level, needs: ['payment', 'chain'] },
  title: 'Ten purchases at once from a wallet that can pay one',
  why: 'Balances are read before and spent after: nine answers leave unpaid.',
  fix: 'Count what a payer has in flight against its balance, and settle before the answer leaves.',
  run: async (seller) => {
    if (seller.chain === undefined) return skipped('needs a chain')
    const poor = newAccount()
    await seller.chain.transfer(poor.address, seller.price)
    const payments = await Promise.all(Array.from({ length: 10 }, () => seller.pay({ account: poor })))
    const answers = await Promise.all(payments.map((payment) => seller.buy(payment)))
    const count = answers.filter(({ status }) => isServed(status)).length
    return count > 1 ? failed(`served ${count} times for the money of one`) : passed(`served ${count} time`)
  },
}

export const quotedCases: readonly Case[] = [
  ...[underpay, otherPayee, otherAsset, otherChain, time, signatures, noFunds, schemes, broken],
  ...[otherResource, otherRoute, otherQuote, bothHeaders, overdraw],
]
