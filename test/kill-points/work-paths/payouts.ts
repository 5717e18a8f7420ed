import { requestRefund } from '../../../packages/till/src/index.ts'
import { Broken, requireExactly } from '../broken.ts'
import type { Desk } from '../desk.ts'
import type { Due, WorkPath } from '../die-at-work.ts'
import { balanceOn, countOf, creditOf, json, rowOf, sendSigned } from './support.ts'

const toppedUp = 5_000_000n
const subscriptionMicro = 250_000_000n

/** Paid to exactly this wallet, by one payout. */
function paidOut(
  desk: Desk,
  payee: string,
  purpose: string,
  balance: { before: bigint; gain(): Promise<bigint> },
): Due {
  const which = [payee.toLowerCase(), purpose]
  return {
    done: async () => (await countOf(desk, `payout where payee = $1 and purpose = $2 and state = 'paid'`, which)) > 0,
    judge: async () => {
      requireExactly('payouts', await countOf(desk, 'payout where payee = $1 and purpose = $2', which), 1)
      requireExactly('paid out', (await balanceOn(desk, payee)) - balance.before, await balance.gain())
    },
  }
}

const refund: WorkPath = {
  name: 'refund of a sale',
  house: 'shops',
  jobs: ['payments.refunds', 'payouts.run'],
  owe: async (desk) => {
    const buyer = await desk.till.newBuyer(600_000_000n)
    await desk.paid(buyer, '/matrix/subscribe/standard')
    await desk.untilFinal(buyer.address)
    const payer = buyer.address.toLowerCase()
    const sale = await rowOf<{ id: string }>(desk, 'select id from payment where payer = $1', [payer])
    const paymentId = sale?.id ?? ''
    await requestRefund(desk.till.db.database, { paymentId, reason: 'kill points', by: 'kill points' })
    const before = await balanceOn(desk, buyer.address)
    return paidOut(desk, buyer.address, 'refund', { before, gain: async () => subscriptionMicro })
  },
}

const affiliate: WorkPath = {
  name: "affiliate's share",
  house: 'shops',
  jobs: ['rewards.mature', 'payouts.run'],
  owe: async (desk) => {
    const buyer = await desk.till.newBuyer(600_000_000n)
    const { address } = await desk.till.newBuyer(0n)
    await desk.paid(buyer, `/matrix/subscribe/standard?aff=${address}`)
    await desk.untilFinal(buyer.address)
    // Of what is left of the price after the cost of settling it.
    const share = await rowOf<{ micro: bigint }>(
      desk,
      'select affiliate_micro as micro from reward_sale where affiliate = $1',
      [address.toLowerCase()],
    )
    return paidOut(desk, address, 'affiliate', { before: 0n, gain: async () => share?.micro ?? 0n })
  },
}

const creditRefund: WorkPath = {
  name: 'refund of credit',
  house: 'shops',
  jobs: ['payouts.run'],
  owe: async (desk) => {
    const buyer = await desk.till.newBuyer(20_000_000n)
    await desk.paid(buyer, '/v1/credit/topup', json({ usd: '5' }))
    await desk.untilFinal(buyer.address)
    const before = await balanceOn(desk, buyer.address)
    const cost = async () =>
      (
        await rowOf<{ micro: bigint }>(
          desk,
          `select $2::bigint - amount_micro as micro from payout where payee = $1 and purpose = 'credit_refund'`,
          [buyer.address.toLowerCase(), toppedUp],
        )
      )?.micro ?? 0n
    const due = paidOut(desk, buyer.address, 'credit_refund', {
      before,
      gain: async () => toppedUp - (await cost()),
    })
    return {
      ...due,
      ask: async (origin) => {
        const { status, body } = await sendSigned(buyer, `${origin}/v1/credit/refund`, { network: 'eip155:8453' })
        // The first one was heard: nothing is left, and the wallet's own page shows where it went.
        const shown = (await (await fetch(`${origin}/v1/credit/${buyer.address}`)).json()) as { refunds: unknown[] }
        if (status !== 200 && shown.refunds.length !== 1)
          throw new Error(`the refund was answered ${status} ${String(body['code'])}`)
      },
      judge: async () => {
        await due.judge()
        requireExactly('credit left', await creditOf(desk, buyer.address), 0n)
        const costMicro = await cost()
        if (costMicro < 0n || costMicro > 100_000n) throw new Broken('lost', `a refund cost ${costMicro}`)
      },
    }
  },
}

export const payoutPaths: readonly WorkPath[] = [refund, affiliate, creditRefund]
