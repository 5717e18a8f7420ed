import type { Address } from 'viem'
import { type Case, type Finding, failed, isServed, passed, skipped, unclear } from '../case.ts'
import type { FacilitatorControl } from '../facilitator/control.ts'
import { type Chain, nobody } from '../seller/chain.ts'
import type { Seller } from '../seller/seller.ts'
import type { Answer } from '../seller/send.ts'
import { decodePayment } from '../seller/sign-payment.ts'
import { inSeconds, sleep } from '../time.ts'
import { buyThrough, checkPurchase } from './buy-through.ts'

const level = 'L4' as const
const needs = ['payment', 'chain', 'facilitator'] as const
const why = 'An answer is served for a payment that was good when it was checked and can never be taken.'
const fix = 'Settle before the answer leaves, and let the transfer on chain decide, not the check before it.'

type Ports = { chain: Chain; facilitator: FacilitatorControl }

const reachedMsMax = 20_000

/** Sends a payment, and lets something happen between the check of the facilitator and its transfer. */
export async function buyWhileHeld(
  { seller, facilitator }: { seller: Seller; facilitator: FacilitatorControl },
  payment: string,
  nonce: string,
  happens: () => Promise<unknown>,
): Promise<{ answer: Answer; isHeld: boolean }> {
  let isAnswered = false
  await facilitator.hold()
  const bought = seller.buy(payment).finally(() => {
    isAnswered = true
  })
  const untilMs = Date.now() + reachedMsMax
  let isHeld = false
  while (!isHeld && !isAnswered && Date.now() < untilMs) {
    await sleep(50)
    isHeld = (await facilitator.state()).held.includes(nonce)
  }
  try {
    if (isHeld) await happens()
  } finally {
    await facilitator.resume()
  }
  return { answer: await bought, isHeld }
}

const nonceOf = (payment: string): string => decodePayment(payment).payload.authorization.nonce.toLowerCase()

/** Served only if the payer paid, no matter who the payer is. */
async function checkPaid(seller: Seller, chain: Chain, payer: Address, buy: () => Promise<Answer>): Promise<Finding> {
  const before = await chain.balance(payer)
  const { status } = await buy()
  const charged = before - (await chain.balance(payer))
  const seen = `answered ${status || 'nothing'}; charged ${charged} of ${seller.price}`
  if (charged > seller.price) return failed(`${seen}: charged more than once`)
  if (isServed(status) && charged < seller.price) return failed(`${seen}: served, and the money did not arrive`)
  return charged > 0n && status === 402 ? failed(`${seen}: asks for money that it has`) : passed(seen)
}

const settling = (
  about: Pick<Case, 'id' | 'title'> & Partial<Pick<Case, 'why' | 'fix'>>,
  run: (seller: Seller, ports: Ports) => Promise<Finding>,
): Case => ({
  ...{ level, needs, why, fix, ...about },
  run: async (seller) => {
    const buyer = await seller.forNewBuyer()
    const { chain, facilitator } = buyer
    if (chain === undefined || facilitator === undefined) return skipped('needs a chain and the facilitator')
    return run(buyer, { chain, facilitator })
  },
})

const cancelled = settling(
  { id: 'cancelled-while-settling', title: 'The payment is cancelled on chain between its check and its transfer' },
  async (seller, { chain, facilitator }) => {
    const payment = await seller.pay()
    return checkPaid(seller, chain, seller.account.address, async () => {
      const held = await buyWhileHeld({ seller, facilitator }, payment, nonceOf(payment), () => chain.cancel(payment))
      return held.answer
    })
  },
)

const drained = settling(
  { id: 'drained-while-settling', title: 'The wallet is emptied between the check of its payment and the transfer' },
  async (seller, { chain, facilitator }) => {
    const payment = await seller.pay()
    const { address } = seller.account
    const before = await chain.balance(address)
    const { answer, isHeld } = await buyWhileHeld({ seller, facilitator }, payment, nonceOf(payment), () =>
      chain.transfer(nobody, before),
    )
    const { status } = answer
    if (!isHeld) return skipped(`answered ${status} without a settlement`)
    return isServed(status) ? failed('served, and the wallet was empty') : passed(`refused with ${status}`)
  },
)

const carried = settling(
  {
    id: 'carried-while-settling',
    title: 'Somebody else carries the payment to the chain before the facilitator does',
    why: 'The money is there, the transaction of the facilitator fails, and the buyer is asked to pay again.',
    fix: 'When a settlement fails, look for the transfer by payer and nonce: it counts, no matter who sent it.',
  },
  async (seller, { chain, facilitator }) =>
    checkPurchase(
      seller,
      await buyThrough(seller, {
        isSameBuyer: true,
        first: async (_seller, payment) => {
          const held = await buyWhileHeld({ seller, facilitator }, payment, nonceOf(payment), () =>
            chain.carry(payment),
          )
          return held.answer
        },
      }),
    ),
)

const crash: Case = {
  ...settling(
    {
      id: 'crash',
      title: 'The seller is killed while it settles, and started again',
      why: 'What was in memory is gone, and the money has moved.',
      fix: 'Write claim, intent and answer before money moves, and recover them at start.',
    },
    async (seller, { facilitator }) =>
      checkPurchase(
        seller,
        await buyThrough(seller, {
          isSameBuyer: true,
          first: async (_seller, payment) => {
            const held = await buyWhileHeld({ seller, facilitator }, payment, nonceOf(payment), async () =>
              seller.restart?.(),
            )
            return held.answer
          },
        }),
      ),
  ),
  needs: [...needs, 'restart'],
}

const flips = settling(
  {
    id: 'contract-wallet-flips',
    title: 'A contract wallet (ERC-1271) takes its signature back between check and transfer',
  },
  async (seller, { chain, facilitator }) => {
    const wallet = await chain.deployWallet()
    await chain.transfer(wallet.address, seller.price)
    const payment = await seller.pay({ authorization: { from: wallet.address } })
    return checkPaid(seller, chain, wallet.address, async () => {
      const held = await buyWhileHeld({ seller, facilitator }, payment, nonceOf(payment), () =>
        wallet.refuseSignatures(),
      )
      return held.answer
    })
  },
)

const delegated = settling(
  {
    id: 'delegated-payer',
    title: 'A wallet whose code (EIP-7702) refuses what its key has signed',
    why: 'The signature recovers to the payer, and the token asks the code of the account instead.',
    fix: 'Check signatures of accounts that have code through that code, and settle before the answer leaves.',
  },
  async (seller, { chain }) => {
    const { address } = await chain.deployWallet()
    if (!(await chain.delegate(address))) return skipped('the chain has no delegated accounts')
    const payment = await seller.pay()
    return checkPaid(seller, chain, seller.account.address, () => seller.buy(payment))
  },
)

const skewSeconds = 30

const skew = settling(
  {
    id: 'clock-skew',
    title: `The clock of the chain is ${skewSeconds} seconds ahead: the payment has expired there, and nowhere else`,
    fix: 'Settle before the answer leaves, and keep a margin to validBefore that is longer than clocks differ.',
  },
  async (seller, { chain, facilitator }) => {
    const payment = await seller.pay({ authorization: { validBefore: inSeconds(seller.time, skewSeconds - 10) } })
    await facilitator.advanceTime(skewSeconds)
    try {
      return await checkPaid(seller, chain, seller.account.address, () => seller.buy(payment))
    } finally {
      await facilitator.advanceTime(-skewSeconds)
    }
  },
)

/** From what no seller can settle in time to what every seller can. */
const edgeSeconds = [2, 5, 6, 7, 10, 12, 13]

const edge = settling(
  {
    id: 'expiry-edge',
    title: `Payments that expire in ${edgeSeconds[0]} to ${edgeSeconds.at(-1)} seconds`,
    why: 'Close to the end a payment is accepted, and expires before it is taken; or it is refused, and taken.',
    fix: 'Require more time than a settlement takes, and check it again just before settling.',
  },
  async (seller, { chain }) => {
    const { address } = seller.account
    const before = await chain.balance(address)
    const statuses: number[] = []
    for (const seconds of edgeSeconds) {
      const payment = await seller.pay({ authorization: { validBefore: inSeconds(seller.time, seconds) } })
      statuses.push((await seller.buy(payment)).status)
    }
    const charged = before - (await chain.balance(address))
    const price = seller.price * BigInt(statuses.filter(isServed).length)
    const seen = `answered ${statuses.join(', ')}; charged ${charged} units`
    if (charged === price) return passed(seen)
    // What is in doubt may be charged: its answer can be fetched later.
    return charged > price && statuses.includes(503) ? unclear(seen) : failed(seen)
  },
)

export const settlingCases: readonly Case[] = [edge, skew, cancelled, drained, carried, flips, delegated, crash]
