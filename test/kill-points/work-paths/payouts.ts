import { requestRefund } from '../../../packages/till/src/internal.ts'
import { systemClock } from '../../../packages/till/src/kernel/clock.ts'
import { createIds } from '../../../packages/till/src/kernel/ids.ts'
import { systemRng } from '../../../packages/till/src/kernel/random.ts'
import { requestWithdrawal } from '../../../packages/till/src/payouts/index.ts'
import { Broken, requireExactly } from '../../harness/broken.ts'
import type { NodeVariant } from '../../harness/node-variants.ts'
import { postJson } from '../../harness/post-json.ts'
import type { Due, WorkPath } from '../die-at-work.ts'
import type { JobHarness } from '../job-harness.ts'
import { balanceOn, countOf, creditOf, network, rowOf, sendSigned } from './support.ts'

const toppedUp = 5_000_000n

/** Paid to exactly this wallet, by one payout. */
function paidOut(
  harness: JobHarness,
  payee: string,
  purpose: string,
  balance: { before: bigint; gain(): Promise<bigint> },
): Due {
  const which = [payee.toLowerCase(), purpose]
  return {
    done: async () =>
      (await countOf(harness, `payout where payee = $1 and purpose = $2 and state = 'paid'`, which)) > 0,
    check: async () => {
      requireExactly('payouts', await countOf(harness, 'payout where payee = $1 and purpose = $2', which), 1)
      requireExactly('paid out', (await balanceOn(harness, payee)) - balance.before, await balance.gain())
    },
  }
}

/** The money of a revocable sale goes back by a payout. */
export const refundOf = (variant: NodeVariant, path: string, micro: bigint): WorkPath => ({
  name: 'refund of a sale',
  variant,
  jobs: ['payments.refunds', 'payouts.run'],
  owe: async (harness) => {
    const buyer = await harness.till.newBuyer(2n * micro)
    await harness.paid(buyer, path)
    await harness.untilFinal(buyer.address)
    const payer = buyer.address.toLowerCase()
    const sale = await rowOf<{ id: string }>(harness, 'select id from payment where payer = $1', [payer])
    const paymentId = sale?.id ?? ''
    await requestRefund(harness.till.db.database, { paymentId, reason: 'kill points', by: 'kill points' })
    const before = await balanceOn(harness, buyer.address)
    return paidOut(harness, buyer.address, 'refund', { before, gain: async () => micro })
  },
})

const refund = refundOf('shops', '/matrix/subscribe/standard', 250_000_000n)

const affiliate: WorkPath = {
  name: "affiliate's share",
  variant: 'shops',
  jobs: ['rewards.mature', 'payouts.run'],
  owe: async (harness) => {
    const buyer = await harness.till.newBuyer(600_000_000n)
    const { address } = await harness.till.newBuyer(0n)
    await harness.paid(buyer, `/matrix/subscribe/standard?aff=${address}`)
    await harness.untilFinal(buyer.address)
    // Of what is left of the price after the cost of settling it.
    const share = await rowOf<{ micro: bigint }>(
      harness,
      'select affiliate_micro as micro from reward_sale where affiliate = $1',
      [address.toLowerCase()],
    )
    return paidOut(harness, address, 'affiliate', { before: 0n, gain: async () => share?.micro ?? 0n })
  },
}

const creditRefund: WorkPath = {
  name: 'refund of credit',
  variant: 'shops',
  jobs: ['payouts.run'],
  owe: async (harness) => {
    const buyer = await harness.till.newBuyer(20_000_000n)
    await harness.paid(buyer, '/v1/credit/topup', postJson({ usd: '5' }))
    await harness.untilFinal(buyer.address)
    const before = await balanceOn(harness, buyer.address)
    const cost = async () =>
      (
        await rowOf<{ micro: bigint }>(
          harness,
          `select $2::bigint - amount_micro as micro from payout where payee = $1 and purpose = 'credit_refund'`,
          [buyer.address.toLowerCase(), toppedUp],
        )
      )?.micro ?? 0n
    const due = paidOut(harness, buyer.address, 'credit_refund', {
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
      check: async () => {
        await due.check()
        requireExactly('credit left', await creditOf(harness, buyer.address), 0n)
        const costMicro = await cost()
        if (costMicro < 0n || costMicro > 100_000n) throw new Broken('lost', `a refund cost ${costMicro}`)
      },
    }
  },
}

/** The operator's own money, to PAY_TO, which every node of the harness may withdraw to. */
const withdrawal: WorkPath = {
  name: "operator's withdrawal",
  variant: 'shops',
  jobs: ['payouts.withdraw', 'payouts.run'],
  owe: async (harness) => {
    const { payTo: payee, withdrawals } = harness.till.node.config
    const paid = () => countOf(harness, `payout where purpose = 'withdrawal' and state = 'paid'`, [])
    const [paidBefore, before] = [await paid(), await balanceOn(harness, payee)]
    const { database } = harness.till.db
    const ids = createIds(systemClock, systemRng)
    const request = { network, payee, amountMicro: 7_000_000n, by: 'kill points' }
    const asked = await requestWithdrawal({ database, clock: systemClock, ids }, withdrawals, request)
    if (asked.status !== 'asked') throw new Error(`the withdrawal was refused: ${asked.why}`)
    return {
      done: async () => (await paid()) > paidBefore,
      check: async () => {
        const all = await countOf(harness, `payout where purpose = 'withdrawal'`, [])
        requireExactly('withdrawals', all, paidBefore + 1)
        requireExactly('withdrawn', (await balanceOn(harness, payee)) - before, 7_000_000n)
      },
    }
  },
}

export const payoutPaths: readonly WorkPath[] = [refund, affiliate, creditRefund, withdrawal]
