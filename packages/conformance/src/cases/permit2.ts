import { permit2Proxies } from '@assay/protocol/typed-data/permit2'
import type { Address, Hex } from 'viem'
import {
  type Case,
  checkRefused,
  type Finding,
  failed,
  isServed,
  listOf,
  passed,
  skipped,
  unclear,
  unsold,
} from '../case.ts'
import type { Chain } from '../seller/chain.ts'
import type { Permit2Buyer, Seller } from '../seller/seller.ts'
import { newAccount } from '../seller/sign-payment.ts'
import { decodePermit, newPermitNonce, type PermitChange } from '../seller/sign-permit.ts'
import { inSeconds } from '../time.ts'
import { receiptOf } from './evidence.ts'
import { changed, elsewhere } from './quoted.ts'
import { buyWhileHeld } from './settling.ts'

const needs = ['payment', 'chain', 'permit2'] as const
const ownTerms =
  'Compare every field of the permit with the stored quote, never with what the client says was accepted.'

type Buyer = { seller: Seller; permit2: Permit2Buyer; chain: Chain }

/**
 * For each way in which the seller takes permits: a buyer who has allowed Permit2 to take what the case needs, and takes
 * the allowance back at its end.
 */
const byPermit = (
  about: Omit<Case, 'run' | 'needs'> & Partial<Pick<Case, 'needs'>> & { purchases: number },
  run: (buyer: Buyer) => Promise<Finding>,
): Case => {
  const { purchases, ...rest } = about
  const isMetered = rest.needs?.includes('upto') ?? false
  const runFor = async (given: Seller, scheme: 'exact' | 'upto'): Promise<Finding> => {
    const seller = await given.forNewBuyer()
    const permit2 = seller.permit2.find(({ offer }) => offer.scheme === scheme)
    const { chain } = seller
    if (permit2 === undefined || chain === undefined) return skipped('needs Permit2 and a chain')
    await permit2.approve(permit2.price * BigInt(purchases))
    return run({ seller, permit2, chain }).finally(() => chain.approvePermit2(0n).catch(() => undefined))
  }
  return {
    ...{ needs, ...rest },
    run: async (given) => {
      const schemes = [...new Set(given.permit2.map(({ offer }) => offer.scheme))]
      const seen: string[] = []
      for (const scheme of schemes.filter((one) => one === 'upto' || !isMetered)) {
        const finding = await runFor(given, scheme)
        if (finding.verdict !== 'passed') return { ...finding, seen: `${scheme}: ${finding.seen}` }
        seen.push(`${scheme}: ${finding.seen}`)
      }
      return passed(seen.join('; '))
    },
  }
}

const copiesAtOnce = 12

const copies = byPermit(
  {
    ...{ id: 'permit2-copies', level: 'L2', purchases: 3 },
    title: `One permit, ${copiesAtOnce} copies at once, more in order and for another request`,
    why: 'A permit of which nothing was taken stays usable until its deadline: the chain does not stop the second serve.',
    fix: 'Write a unique claim for network, payer and nonce to a database before any work, whatever is charged.',
  },
  async ({ seller, permit2 }) => {
    const permit = await permit2.pay()
    const statuses: number[] = []
    const charged = await seller.charged(async () => {
      const answers = await Promise.all(Array.from({ length: copiesAtOnce }, () => seller.buy(permit)))
      statuses.push(...answers.map(({ status }) => status))
      statuses.push((await seller.buy(permit)).status, (await seller.buy(permit, elsewhere(seller))).status)
    })
    const served = statuses.filter(isServed).length
    const seen = `served ${served} of ${statuses.length}, charged ${charged} of ${permit2.price}`
    if (served > 1 || (charged ?? 0n) > permit2.price) return failed(seen)
    return served === 1 ? passed(seen) : unclear(`${seen} (${listOf(statuses)})`)
  },
)

const terms = byPermit(
  {
    ...{ id: 'permit2-terms', level: 'L3', purchases: 11, fix: ownTerms },
    title: 'Permits for less, for others, for other tokens, contracts and chains, too old and too early',
    why: 'The answer is sold for a fraction, or for a permit that can never be carried.',
  },
  async ({ seller, permit2: { offer, price, pay } }) => {
    const { address } = seller.account
    const stranger = newAccount()
    const less = (price - 1n).toString()
    const changes: PermitChange[] = [
      { amount: less },
      { amount: less, accepted: { amount: less } },
      { amount: '0', accepted: { amount: '0' } },
      { token: stranger.address, accepted: { asset: stranger.address } },
      { to: address, accepted: { payTo: address } },
      { spender: permit2Proxies[offer.scheme === 'upto' ? 'exact' : 'upto'] },
      { deadline: inSeconds(seller.time, -1) },
      { validAfter: inSeconds(seller.time, 45) },
      { chainId: 1, accepted: { network: 'eip155:1' } },
      { signature: changed },
      { account: stranger },
    ]
    const statuses: number[] = []
    const charged = await seller.charged(async () => {
      for (const change of changes) statuses.push((await seller.buy(await pay(change))).status)
    })
    return checkRefused(statuses, { charged, price })
  },
)

const nonce = byPermit(
  {
    ...{ id: 'permit2-nonce', level: 'L4', purchases: 3 },
    title: 'A permit whose nonce was used up on chain, and one nonce in two permits',
    why: 'Nonces of Permit2 are bits that all tokens and contracts share: an answer is served for a permit that cannot be carried.',
    fix: 'Read the bit of the nonce when the claim is made, key the claim by payer and nonce, and settle before the answer leaves.',
  },
  async ({ seller, permit2, chain }) => {
    const used = await permit2.pay()
    if (!(await chain.cancelPermit(used))) return skipped('the chain has no Permit2')
    const refused = (await seller.buy(used)).status
    if (isServed(refused)) return failed('served for a permit that can never be carried')
    const shared = newPermitNonce()
    const one = await permit2.pay({ nonce: shared })
    const other = await permit2.pay({ nonce: shared, deadline: inSeconds(seller.time, 45) })
    const first = await seller.buy(one)
    if (!isServed(first.status)) return unsold(first)
    const second = (await seller.buy(other)).status
    return isServed(second)
      ? failed('served twice for one nonce')
      : passed(`answered ${listOf([refused, first.status, second])}`)
  },
)

const cancelled = byPermit(
  {
    ...{ id: 'permit2-cancelled-while-settling', level: 'L4', needs: [...needs, 'facilitator'], purchases: 1 },
    title: 'The nonce of a permit is used up between its check and its transfer',
    why: 'An answer is served for a payment that was good when it was checked and can never be taken.',
    fix: 'Settle before the answer leaves, and let the transfer on chain decide, not the check before it.',
  },
  async ({ seller, permit2, chain }) => {
    const { facilitator } = seller
    if (facilitator === undefined) return skipped('needs the facilitator')
    const permit = await permit2.pay()
    const known = decodePermit(permit).payload.permit2Authorization.nonce
    let status = 0
    let isHeld = false
    const charged = await seller.charged(async () => {
      const held = await buyWhileHeld({ seller, facilitator }, permit, known, () => chain.cancelPermit(permit))
      ;({ status } = held.answer)
      isHeld = held.isHeld
    })
    if (!isHeld) return skipped(`answered ${status} without a settlement through this facilitator`)
    return isServed(status) ? failed(`served, and charged ${charged}`) : passed(`refused with ${status}`)
  },
)

const byOthers = byPermit(
  {
    ...{ id: 'upto-facilitator', level: 'L3', needs: [...needs, 'upto'], purchases: 2, fix: ownTerms },
    title: 'A permit of upto that only the buyer or a stranger can settle',
    why: 'The facilitator of the quote cannot take it, and the buyer settles it for nothing.',
  },
  async ({ seller, permit2: { price, pay } }) => {
    const statuses: number[] = []
    const others = [seller.account.address, newAccount().address]
    const charged = await seller.charged(async () => {
      for (const facilitator of others) {
        const accepted = { extra: { ...seller.offer.extra, facilitatorAddress: facilitator } }
        statuses.push((await seller.buy(await pay({ facilitator, accepted }))).status)
      }
    })
    return checkRefused(statuses, { charged, price })
  },
)

const charge = byPermit(
  {
    ...{ id: 'upto-charge', level: 'L3', needs: [...needs, 'upto'], purchases: 3 },
    title: 'What is charged by upto is what the receipt says, and never above the quote',
    why: 'The buyer agreed to a maximum, and cannot see what was used of it but by the receipt.',
    fix: 'Write the amount that was settled to PAYMENT-RESPONSE; refuse permits for more than was quoted.',
  },
  async ({ seller, permit2: { offer, price, pay }, chain }) => {
    let answer = await seller.send()
    const charged = (await seller.charged(async () => (answer = await seller.buy(await pay())))) ?? 0n
    if (!isServed(answer.status)) return unsold(answer)
    if (charged > price) return failed(`charged ${charged}, quoted at most ${price}`)
    const { amount, transaction } = receiptOf(answer) ?? {}
    if (typeof amount === 'string' && BigInt(amount) !== charged)
      return failed(`charged ${charged}, the receipt says ${amount}`)
    if (charged > 0n && typeof transaction === 'string' && transaction !== '') {
      const moved = await chain.movedBy(transaction as Hex, seller.account.address, offer.payTo as Address)
      if (moved !== charged) return failed(`charged ${charged}, its transaction moved ${moved ?? 'nothing'}`)
    }
    const double = (price * 2n).toString()
    let status = 0
    const more = await seller.charged(async () => {
      ;({ status } = await seller.buy(await pay({ amount: double, accepted: { amount: double } })))
    })
    if ((more ?? 0n) > price) return failed(`charged ${more} of a permit for ${double}, quoted at most ${price}`)
    return passed(`charged ${charged} of ${price}; a permit for more was answered with ${status}`)
  },
)

export const permit2Cases: readonly Case[] = [copies, terms, byOthers, charge]
export const permit2FailureCases: readonly Case[] = [nonce, cancelled]
