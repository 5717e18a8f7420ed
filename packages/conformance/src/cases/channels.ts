import type { Address } from '@assay/protocol/address'
import { channelContract, erc3009Collector } from '@assay/protocol/typed-data/channel'
import { parsePaymentRequired } from '@assay/sdk'
import type { Hex } from 'viem'
import { type Case, type Finding, failed, isServed, listOf, passed, skipped, unclear, unsold } from '../case.ts'
import type { Chain } from '../seller/chain.ts'
import type { Seller } from '../seller/seller.ts'
import type { Answer, SendOptions } from '../seller/send.ts'
import { newAccount } from '../seller/sign-payment.ts'
import type { Channel, DepositChange, VoucherChange } from '../seller/sign-voucher.ts'
import { inSeconds, sleep } from '../time.ts'
import { receiptOf } from './evidence.ts'
import { mirrored } from './once.ts'
import { changed } from './quoted.ts'

const needs = ['payment', 'chain', 'channels'] as const
const counter =
  'Write the cumulative amount that was charged in one transaction with the answer, and take only a voucher for exactly that and the price.'

type State = { chargedCumulativeAmount?: unknown; channelId?: unknown }
type Buyer = { seller: Seller; channel: Channel; chain: Chain }
/** With a channel that money was paid into: what its first call was charged. */
type OpenBuyer = Buyer & { first: Answer; base: bigint; deposited: bigint }

const amountIn = (state: State | undefined): bigint | undefined =>
  /^\d+$/.test(String(state?.chargedCumulativeAmount)) ? BigInt(String(state?.chargedCumulativeAmount)) : undefined

const receiptExtra = (answer: Answer) =>
  (receiptOf(answer) as { extra?: { chargedAmount?: unknown; channelState?: State } } | undefined)?.extra

/** What the channel was charged in all, as a paid answer says it. */
const chargedIn = (answer: Answer): bigint | undefined => amountIn(receiptExtra(answer)?.channelState)

/** The same as the seller says it to a voucher that fits nothing. Shows the newest voucher to the caller. */
async function askCharged({ seller, channel }: Buyer): Promise<bigint | undefined> {
  const { headers } = await seller.buy(await channel.voucher(0n))
  const header = headers['payment-required']
  if (typeof header !== 'string') return undefined
  const states = parsePaymentRequired(header).accepts.map(({ extra }) => extra['channelState'] as State | undefined)
  return amountIn(states.find((state) => state !== undefined))
}

const about = {
  why: 'A voucher names no request and no expiry: nothing but the count of the seller keeps it from buying again.',
  fix: counter,
}

const byChannel = (
  given: Omit<Case, 'run' | 'needs' | 'why' | 'fix'> & Partial<Pick<Case, 'needs' | 'why' | 'fix'>>,
  run: (buyer: Buyer) => Promise<Finding>,
): Case => ({
  ...{ needs, ...about, ...given },
  run: async (of) => {
    const seller = await of.forNewBuyer()
    const { chain } = seller
    const channel = seller.newChannel?.()
    return channel && chain ? run({ seller, channel, chain }) : skipped('needs channels and a chain')
  },
})

/** After a first call that pays in for so many; what is left at the end is asked for. */
const inChannel = (
  { calls, ...given }: Parameters<typeof byChannel>[0] & { calls: number },
  run: (buyer: OpenBuyer) => Promise<Finding>,
): Case =>
  byChannel(given, async (buyer) => {
    const { seller, channel } = buyer
    const first = await seller.buy(await channel.deposit(calls))
    const { minDeposit } = channel.offer.extra
    if (!isServed(first.status))
      return unclear(`a deposit for ${calls} calls was answered with ${first.status}; minDeposit is ${minDeposit}`)
    const base = chargedIn(first)
    if (base === undefined) return failed('PAYMENT-RESPONSE does not say what the channel was charged')
    return run({ ...buyer, first, base, deposited: channel.depositFor(calls) }).finally(() =>
      claimRefund(buyer).catch(() => undefined),
    )
  })

async function claimRefund(buyer: Buyer): Promise<void> {
  const charged = await askCharged(buyer)
  if (charged !== undefined) await buyer.seller.buy(await buyer.channel.voucher(charged, { type: 'refund' }))
}

/** Another request of the same route. */
const other = ({ url: { pathname, search } }: Seller, copy: number | string): SendOptions => ({
  path: `${pathname}${search === '' ? '?copy=' : search}${copy}`,
})

const copiesAtOnce = 12

const copies = inChannel(
  {
    ...{ id: 'channel-copies', level: 'L2', calls: 3 },
    title: `One voucher, ${copiesAtOnce} copies at once and more in order, also for another request`,
  },
  async (buyer) => {
    const { seller, channel, base } = buyer
    const voucher = await channel.voucher(base + channel.price, { isNamed: false })
    const answers = await Promise.all(Array.from({ length: copiesAtOnce }, () => seller.buy(voucher)))
    answers.push(await seller.buy(voucher))
    const elsewhere = await seller.buy(voucher, other(seller, 1))
    const served = answers.filter(({ status }) => isServed(status))
    const charged = (await askCharged(buyer)) ?? base
    const seen = `served ${served.length} of ${answers.length}, charged ${charged - base} of ${channel.price}`
    if (isServed(elsewhere.status)) return failed(`${seen}: served for another request too`)
    if (charged - base > channel.price) return failed(`${seen}: charged more than once`)
    if (new Set(served.map(({ body, headers }) => `${body} ${headers['payment-response']}`)).size > 1)
      return failed(`${seen}: different answers for one voucher`)
    if (served.length === 0) return unclear(`${seen} (${listOf(answers.map(({ status }) => status))})`)
    return passed(served.length === 1 ? seen : `${seen}: the stored answer`)
  },
)

const checkUnserved = (statuses: readonly number[], charged: bigint | undefined): Finding => {
  const list = listOf(statuses)
  if (statuses.some(isServed)) return failed(`served (${list})`)
  if ((charged ?? 0n) > 0n) return failed(`refused with ${list}, and ${charged} units were taken`)
  return statuses.every((status) => status >= 500 || status === 0) ? unclear(list) : passed(`refused with ${list}`)
}

const vouchers = inChannel(
  {
    ...{ id: 'channel-vouchers', level: 'L3', calls: 3 },
    title: 'Vouchers of another payer, channel, chain and contract, and with changed signatures',
    why: 'An answer is served for vouchers that can never be claimed.',
    fix: 'Compute the id of the channel from its configuration, and check the signature over it on your own chain and contract.',
  },
  async ({ seller, channel, base }) => {
    const stranger = newAccount()
    const changes: VoucherChange[] = [
      { account: stranger },
      { account: stranger, type: 'refund' },
      { chainId: 1 },
      { contract: erc3009Collector },
      { channelId: `0x${'7'.repeat(64)}` },
      { config: { salt: `0x${'7'.repeat(64)}` } },
      { config: { salt: `0x${'7'.repeat(64)}` }, channelId: channel.id },
      { config: { payerAuthorizer: stranger.address.toLowerCase() as Address } },
      { signature: changed },
      { signature: mirrored },
    ]
    const statuses: number[] = []
    for (const change of changes) {
      const max = change.type === 'refund' ? base : base + channel.price
      statuses.push((await seller.buy(await channel.voucher(max, change))).status)
    }
    const finding = checkUnserved(statuses, 0n)
    if (finding.verdict !== 'passed') return finding
    const { status } = await seller.buy(await channel.voucher(base + channel.price))
    return isServed(status) ? finding : unclear(`an honest voucher was answered with ${status}`)
  },
)

const amounts = inChannel(
  {
    ...{ id: 'channel-amounts', level: 'L3', calls: 1 },
    title: 'Vouchers for less than is due, for what was charged before, and for more than was paid in',
    why: 'Each call is sold for the difference to the voucher before: none at all, or money that is not there.',
  },
  async ({ seller, channel, base, deposited }) => {
    const next = base + channel.price
    // The voucher of the first call may bring its answer again.
    const tooLow = [1n, base, next - 1n].filter((max) => max !== channel.price)
    const statuses: number[] = []
    for (const max of [...tooLow, deposited + channel.price])
      statuses.push((await seller.buy(await channel.voucher(max))).status)
    return checkUnserved(statuses, 0n)
  },
)

/** First payments of new channels, none of which may be taken. */
const deposits = (
  given: Omit<Case, 'run' | 'needs' | 'level'>,
  changes: (buyer: Buyer) => DepositChange[],
  more: (buyer: Buyer) => Promise<string>[] = () => [],
): Case =>
  byChannel({ level: 'L3', ...given }, async (buyer) => {
    const { seller } = buyer
    const statuses: number[] = []
    const charged = await seller.charged(async () => {
      const payments = changes(buyer).map((change) => seller.newChannel?.().deposit(1, change))
      for (const payment of [...payments, ...more(buyer)])
        if (payment) statuses.push((await seller.buy(await payment)).status)
    })
    return checkUnserved(statuses, charged)
  })

const terms = deposits(
  {
    id: 'channel-terms',
    title: 'Channels whose receiver, keys, token or delay are not those of the quote',
    why: 'The money goes into a channel from which the seller cannot claim, or the buyer takes it back first.',
    fix: 'Compare every word of channelConfig with your own quote before anything is taken.',
  },
  ({ seller: { account }, channel: { offer } }) => {
    const own = account.address.toLowerCase() as Address
    const stranger = newAccount().address.toLowerCase() as Address
    return [
      { config: { receiver: own } },
      { config: { receiverAuthorizer: own } },
      { config: { token: stranger } },
      { config: { withdrawDelay: Number(offer.extra['withdrawDelay']) === 900 ? 901 : 900 } },
    ]
  },
)

const badDeposits = deposits(
  {
    id: 'channel-deposit',
    title: 'Deposits that a stranger signed, that have expired or do not cover the voucher, and no deposit at all',
    why: 'The first answer leaves for money that never arrives.',
    fix: 'Let the deposit be on chain before the answer leaves.',
  },
  ({ seller, channel: { price, depositFor } }) => [
    { depositor: newAccount() },
    { validBefore: inSeconds(seller.time, -1) },
    { amount: price - 1n },
    { max: depositFor(1) + price },
  ],
  ({ seller, channel }) => [(seller.newChannel?.() ?? channel).voucher(channel.price)],
)

const refundAttempts = 5

const refund = inChannel(
  {
    ...{ id: 'channel-refund', level: 'L4', calls: 3 },
    title: 'The rest of a channel is asked back while it buys, and a voucher comes after that',
    why: 'What was sold is refunded with the rest, or vouchers are taken for money that has left.',
    fix: 'Claim what was charged in the transaction of the refund, and sell nothing through the channel meanwhile.',
  },
  async (buyer) => {
    const { seller, channel, base, deposited } = buyer
    const back = (charged: bigint) => channel.voucher(charged, { type: 'refund' })
    const [asked, voucher] = [await back(base), await channel.voucher(base + channel.price)]
    const before = deposited
    let [refunded, bought] = [false, undefined as Answer | undefined]
    const gained = await seller.charged(async () => {
      const [one, two] = await Promise.all([seller.buy(asked), seller.buy(voucher)])
      bought = isServed(two.status) ? two : undefined
      const charged = bought && chargedIn(bought)
      refunded = isServed(one.status)
      // The seller may see the deposit a block later, or have sold in between.
      for (let attempt = 0; attempt < refundAttempts && !refunded; attempt += 1) {
        refunded = isServed((await seller.buy(await back(charged ?? base))).status)
        if (!refunded) await sleep(700)
      }
    })
    // What came back is negative.
    const spent = before + (gained ?? 0n)
    const charged = (bought && chargedIn(bought)) ?? base
    const seen = `${bought ? 'sold' : 'did not sell'} meanwhile; charged ${charged}, kept ${spent} of ${before}`
    if (spent < charged) return failed(`${seen}: refunded what was sold`)
    if (!refunded) return unclear(`${seen}: nothing was refunded`)
    const { status } = await seller.buy(await channel.voucher(charged + channel.price))
    const isCovered = spent >= charged + channel.price
    if (isServed(status) && !isCovered) return failed(`${seen}: sold again for money that is not there`)
    return passed(`${seen}; the next voucher was answered with ${status}`)
  },
)

const lostAnswer = inChannel(
  {
    ...{ id: 'channel-lost-answer', level: 'L4', needs: [...needs, 'loopback'], calls: 3 },
    title: 'The answer to a voucher is lost after one byte, and the buyer sends the voucher again',
    why: 'The voucher is spent, and the buyer has nothing for it.',
    fix: 'Store the answer with the charge, and give it again for the same voucher and the same request.',
  },
  async (buyer) => {
    const { seller, channel, base } = buyer
    const voucher = await channel.voucher(base + channel.price)
    const { status: cut } = await seller.buy(voucher, { cutAfterBytes: 1 })
    const statuses = [cut]
    let last = await seller.buy(voucher)
    for (const untilMs = Date.now() + seller.patienceMs; last.status !== 402 && Date.now() < untilMs; ) {
      if (isServed(last.status)) break
      await sleep(500)
      last = await seller.buy(voucher)
    }
    statuses.push(last.status)
    const charged = (isServed(last.status) ? chargedIn(last) : undefined) ?? (await askCharged(buyer))
    if (charged === undefined) return unclear(`answered ${listOf(statuses)}; the charge is not known`)
    const seen = `answered ${listOf(statuses)}; charged ${charged - base} of ${channel.price}`
    if (charged - base > channel.price) return failed(`${seen}: charged twice`)
    return !isServed(last.status) && charged > base
      ? failed(`${seen}: charged for an answer that is lost`)
      : passed(seen)
  },
)

const restarted = inChannel(
  {
    ...{ id: 'channel-restart', level: 'L4', needs: [...needs, 'restart'], calls: 4 },
    title: 'A voucher that was used before the seller was killed and started again',
    why: 'The chain knows of no voucher until it is claimed: a count in memory begins again at zero.',
  },
  async (buyer) => {
    const { seller, channel, base } = buyer
    const voucher = await channel.voucher(base + channel.price, { isNamed: false })
    const sold = await seller.buy(voucher)
    if (!isServed(sold.status)) return unsold(sold)
    await seller.restart?.()
    const { status } = await seller.buy(voucher, other(seller, 1))
    if (isServed(status)) return failed('a voucher that was used is served again')
    const charged = chargedIn(sold) ?? base
    const known = (await askCharged(buyer)) ?? 0n
    if (known < charged) return failed(`charged ${charged}, and knows of ${known} after the start`)
    const next = await seller.buy(await channel.voucher(charged + channel.price))
    return isServed(next.status)
      ? passed(`refused with ${status}; the next voucher is served`)
      : unclear(`refused with ${status}; the next voucher was answered with ${next.status}`)
  },
)

const receipt = inChannel(
  {
    ...{ id: 'channel-receipt', level: 'L5', calls: 3 },
    title: 'PAYMENT-RESPONSE names the deposit, and what the channel was charged after each call',
    why: 'The next voucher is signed over the count of the seller: without it the buyer signs blindly.',
    fix: 'Send transaction for a deposit, and extra.chargedAmount and extra.channelState with every paid answer.',
  },
  async ({ seller, channel, chain, first, base }) => {
    const opened = receiptOf(first)
    const moved = (to: Address) => chain.movedBy(opened?.transaction as Hex, seller.account.address, to)
    if (!/^0x[0-9a-f]{64}$/i.test(String(opened?.transaction))) return failed('the deposit has no transaction')
    if (((await moved(erc3009Collector)) || (await moved(channelContract)) || 0n) === 0n)
      return failed('the transaction of the deposit moved nothing')
    const answer = await seller.buy(await channel.voucher(base + channel.price))
    if (!isServed(answer.status)) return unsold(answer)
    const { chargedAmount, channelState } = receiptExtra(answer) ?? {}
    const amount = /^\d+$/.test(String(chargedAmount)) ? BigInt(String(chargedAmount)) : undefined
    if (amount === undefined) return failed('no chargedAmount')
    if (amount > channel.price) return failed(`charged ${amount} of ${channel.price}`)
    if (String(channelState?.channelId).toLowerCase() !== channel.id) return failed('names another channel')
    const total = amountIn(channelState)
    return total === base + amount
      ? passed(`charged ${amount} of ${channel.price}, ${total} in all`)
      : failed(`charged ${amount} after ${base}, and says ${total} in all`)
  },
)

export const channelCases: readonly Case[] = [copies, vouchers, amounts, terms, badDeposits, receipt]
export const channelFailureCases: readonly Case[] = [refund, lostAnswer, restarted]
