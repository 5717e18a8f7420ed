import { type Case, failed, isServed, listOf, passed, skipped, unsold } from '../case.ts'
import { newAccount, newNonce } from '../seller/sign-payment.ts'
import { sleep } from '../time.ts'
import { buyThrough, checkPurchase, type Through } from './buy-through.ts'
import { settlingCases } from './settling.ts'

const level = 'L4' as const
const chainFix =
  'Treat the word of a facilitator as a hint: read the transfer from chain. Unknown is 503 with Retry-After, never 402.'

/** A purchase with something going wrong behind the seller, checked by what was served and what moved. */
const through = (
  about: Pick<Case, 'id' | 'title' | 'why'> & Partial<Pick<Case, 'fix' | 'needs'>>,
  how: Through,
): Case => ({
  ...{ level, fix: chainFix, needs: ['payment', 'chain', 'facilitator'] as const },
  ...about,
  run: async (seller) => checkPurchase(seller, await buyThrough(seller, how)),
})

const paysTwice = 'A client that obeys the 402 pays a second time for one answer.'

/** The failure modes that the field discusses, by its names. */
export const failureModes: readonly Case[] = [
  through(
    { id: 'clean', title: 'Nothing goes wrong', why: 'The case that all others are compared with.' },
    { patience: 0.2 },
  ),
  through(
    { id: 'accept-then-timeout', title: 'The facilitator settles and never answers', why: paysTwice },
    { faults: ['hangs_after'] },
  ),
  through(
    { id: '5xx-after-settle', title: 'The facilitator settles and answers 500', why: paysTwice },
    { faults: ['fails_after'] },
  ),
  through(
    { id: 'slow-answer', title: 'The facilitator takes seconds', why: 'Impatient sellers drop what was paid for.' },
    { faults: ['is_slow'] },
  ),
  through(
    {
      id: 'declared-safe',
      title: 'The facilitator says that nothing moved, and it did',
      why: paysTwice,
    },
    { faults: ['refuses_after_sending'] },
  ),
  through(
    {
      id: 'reconcile-unavailable',
      title: 'The facilitator fails again and again after settling',
      why: 'A seller that cannot find out must not guess.',
    },
    { faults: ['fails_after', 'fails_before', 'fails_before', 'fails_before'] },
  ),
  {
    ...{ id: 'double-402', level, fix: chainFix, why: paysTwice, needs: ['payment', 'chain', 'facilitator'] },
    title: 'A client that pays again whenever it is asked to',
    run: async (one) => {
      const seller = await one.forNewBuyer()
      await seller.facilitator?.plan(['fails_after'])
      const statuses: number[] = []
      const charged =
        (await seller.charged(async () => {
          for (let attempt = 0; attempt < 4 && !statuses.some(isServed); attempt += 1) {
            const payment = await seller.pay()
            let { status } = await seller.buy(payment)
            for (let again = 0; again < 20 && (status === 503 || status === 0); again += 1) {
              await sleep(500)
              ;({ status } = await seller.buy(payment))
            }
            statuses.push(status)
            if (status !== 402 && status !== 409) break
          }
        })) ?? 0n
      const seen = `answered ${listOf(statuses)}; charged ${charged} of ${seller.price}`
      if (charged > seller.price) return failed(`${seen}: charged more than once`)
      return charged > 0n && !statuses.some(isServed) ? failed(`${seen}: charged, and never served`) : passed(seen)
    },
  },
]

const lies: readonly Case[] = [
  through(
    {
      id: 'false-success',
      title: 'The facilitator claims success for a transaction that does not exist',
      why: 'An answer is served and no money arrives.',
    },
    { isLie: true, faults: ['claims_to_have_sent'], patience: 0.1 },
  ),
  through(
    {
      id: 'foreign-transaction',
      title: 'The facilitator names the transaction of another payment',
      why: 'One transfer pays for any number of sales.',
    },
    { isLie: true, faults: ['claims_foreign_transaction'], patience: 0.1 },
  ),
  through(
    { id: 'settled-twice', title: 'The facilitator sends the transfer twice', why: 'A revert is read as a refusal.' },
    { isLie: true, faults: ['settles_twice'] },
  ),
  through(
    {
      id: 'refused-then-settled',
      title: 'The facilitator refuses, and settles later',
      why: 'The buyer reads that nothing moved, and has paid.',
    },
    {
      isLie: true,
      faults: ['refuses_and_settles_late'],
      meanwhile: async (seller) => {
        await seller.facilitator?.settleLate()
      },
    },
  ),
  through(
    { id: 'settled-late', title: 'The facilitator is pending, and settles later', why: paysTwice },
    {
      isLie: true,
      faults: ['settles_late'],
      meanwhile: async (seller) => {
        await seller.facilitator?.settleLate()
      },
    },
  ),
]

const cancelled: Case = {
  ...{ id: 'cancelled', level, needs: ['payment', 'chain'] },
  title: 'A payment that was cancelled on chain before it was sent',
  why: 'An answer is served for a payment that can never be taken.',
  fix: 'Settle before the answer leaves, and check the state of the nonce when the claim is made.',
  run: async (seller) => {
    const payment = await seller.pay()
    if (!(await seller.chain?.cancel(payment))) return skipped('the token of this chain cannot cancel')
    const { status } = await seller.buy(payment)
    return isServed(status) ? failed('served for a payment that can never be taken') : passed(`refused with ${status}`)
  },
}

const signedTwice: Case = {
  ...{ id: 'nonce-signed-twice', level, needs: ['payment', 'chain'] },
  title: 'One nonce signed twice, and the cheaper one carried to the chain',
  why: 'The price is quoted, one unit is paid, and the answer or a credit of the whole price is given.',
  fix: 'Compare payer, payee, asset, nonce and amount of the transfer itself; book what moved, not what was quoted.',
  run: async (seller) => {
    const { chain } = seller
    if (chain === undefined) return skipped('needs a chain')
    const statuses: number[] = []
    for (const other of [{ value: '1' }, { to: seller.account.address as string, value: '1' }]) {
      const nonce = newNonce()
      const payment = await seller.pay({ authorization: { nonce } })
      if (!(await chain.carry(await seller.pay({ authorization: { nonce, ...other } }))))
        return skipped('the token of this chain takes no authorizations')
      for (let attempt = 0; attempt < 2; attempt += 1) statuses.push((await seller.buy(payment)).status)
    }
    if (statuses.some(isServed)) return failed(`served for a nonce that was used for less (${listOf(statuses)})`)
    const nonce = newNonce()
    const [payment, cheaper] = [
      await seller.pay({ authorization: { nonce } }),
      await seller.pay({ authorization: { nonce, value: '1' } }),
    ]
    let status = 0
    const charged = await seller.charged(async () => {
      const [answer] = await Promise.all([seller.buy(payment), chain.carry(cheaper)])
      status = answer.status
    })
    return isServed(status) && (charged ?? 0n) < seller.price
      ? failed(`served for ${charged} units`)
      : passed(`answered ${listOf([...statuses, status])}`)
  },
}

const refusedThenCarried: Case = {
  ...{ id: 'carried-after-402', level, needs: ['payment', 'chain'], fix: chainFix },
  title: 'A payment that was refused for funds, then carried to the chain by somebody',
  why: 'The money is there, and the seller asks for it again.',
  run: async (seller) => {
    const { chain } = seller
    if (chain === undefined) return skipped('needs a chain')
    const poor = newAccount()
    const payment = await seller.pay({ account: poor })
    const first = await seller.buy(payment)
    if (isServed(first.status)) return failed('served for a wallet that has nothing')
    await chain.transfer(poor.address, seller.price)
    if (!(await chain.carry(payment))) return skipped('the token of this chain takes no authorizations')
    const statuses: number[] = []
    for (let attempt = 0; attempt < 3; attempt += 1) statuses.push((await seller.buy(payment)).status)
    const list = listOf(statuses)
    if (statuses.filter(isServed).length > 1) return failed(`served more than once (${list})`)
    if (statuses.includes(402)) return failed('asks for another payment for money that it has')
    return passed(`refused with ${first.status}, then answered ${list}`)
  },
}

const reorganised: Case = {
  ...{ id: 'reorganised', level, needs: ['payment', 'chain', 'facilitator'] },
  title: 'The block of a payment is replaced, and the payment is sent again',
  why: 'One authorization buys twice, once before and once after the reorganisation.',
  fix: 'Keep the claim of a payment whose block was replaced; never sell the same authorization twice.',
  run: async (given) => {
    const seller = await given.forNewBuyer()
    // An earlier purchase: the money of the buyer is not in the blocks that are replaced.
    await seller.buy(await seller.pay())
    const payment = await seller.pay()
    const first = await seller.buy(payment)
    if (!isServed(first.status)) return unsold(first)
    await seller.facilitator?.reorg(2)
    const statuses: number[] = []
    for (let attempt = 0; attempt < 3; attempt += 1) statuses.push((await seller.buy(payment)).status)
    return statuses.some(isServed)
      ? failed(`served once more (${listOf(statuses)})`)
      : passed(`then answered ${listOf(statuses)}`)
  },
}

/** A seller that has found its facilitator lying may stop settling through it: these come last. */
export const failureCases: readonly Case[] = [
  ...[cancelled, signedTwice, refusedThenCarried, reorganised],
  ...settlingCases,
  ...lies,
]
