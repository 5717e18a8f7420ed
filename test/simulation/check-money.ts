import type { Address } from '../../packages/protocol/src/address.ts'
import { accounts, balanceOf, openClearing, owedTo } from '../../packages/till/src/ledger/index.ts'
import { checkTransfersWhenIdle } from '../harness/check-transfers.ts'
import { Violation } from '../harness/violation.ts'
import type { Scene } from './buyers.ts'
import { booksOf, hasOwnAddress, readPayments, resourceOf } from './check-answers.ts'
import { checkCreators } from './check-creators.ts'
import { describeOrder } from './describe-order.ts'
import { has } from './shops.ts'

/** What must be so once nothing is under way: all money is accounted for, on the chain and in the books. */
export async function checkMoney(scene: Scene): Promise<void> {
  const { world } = scene
  const [open] = await openClearing(world.db.owner)
  if (open) throw new Violation('I7', `${open.name} still holds ${open.balanceMicro} for ${open.paymentId}`)
  await checkTransfersWhenIdle(booksOf(scene))
  await checkCreators(scene)
  await checkCredit(scene)
  const payments = await readPayments(scene)
  for (const order of scene.history.orders.filter((one) => one.honest && hasOwnAddress(one))) {
    const own = payments.filter(({ resource }) => resource === resourceOf(scene, order))
    const served = own.filter(({ state }) => state === 'served').length
    // Who was given the money back may have bought again; what a reorg took after it was served is the seller's loss.
    const undone = own.some(({ state, reorgs }) => state === 'refunded' || reorgs > 0)
    if (served > 1 + order.boughtAgain.size || (served === 0 && !undone))
      throw new Violation(
        'promise 4',
        `${order.id} was answered for ${served} payments: ${describeOrder(scene, order, own)}`,
      )
  }
}

/**
 * I9, wallet by wallet: what is left of a credit is what came into it less what was drawn from it, from the rows of
 * payments, calls and payouts and not from the books. The exchange pays into credit by its own rules.
 */
export async function checkCredit(scene: Scene): Promise<void> {
  const { world } = scene
  if (has(world.seed, 'exchange')) return
  for (const { chainId } of world.chains)
    for (const { address } of world.buyers) {
      const network = `eip155:${chainId}`
      const wallet = address.toLowerCase() as Address
      const { rows } = await world.db.owner.query<{ come: bigint; gone: bigint; free: bigint }>(
        `select (select coalesce(sum(amount_micro), 0) from payment where network = $1 and payer = $2
             and (state = 'credited' or (state = 'served' and route_id like 'credit.topup%')))::bigint
           + (select coalesce(sum(amount_micro), 0) from transfer where network = $1 and sender = $2 and posted_as = 'credit')::bigint
           + (select coalesce(sum(micro), 0) from creator_accrual where network = $1 and payer = $2 and state = 'expired')::bigint as come,
           (select coalesce(sum(amount), 0) from entitled_call where port = 'credit' and subject = $1 and account = $2
             and state <> 'released')::bigint
           + (select coalesce(sum(amount_micro + $3), 0) from payout where network = $1 and payee = $2
             and purpose in ('credit_refund', 'credit_refund_pay_to') and state <> 'returned')::bigint as gone,
           least((select count(*) from payout where network = $1 and payee = $2
               and purpose in ('credit_refund', 'credit_refund_pay_to') and state <> 'returned'),
             2 * (select count(*) from payment where network = $1 and payer = $2 and reason = 'refunded_after_refusal')) as free`,
        [network, wallet, refundCostMicro],
      )
      const { come, gone, free } = rows[0] ?? { come: 0n, gone: 0n, free: 0n }
      const credit = await owedTo(world.db.owner, accounts.credit(network, wallet))
      const owes = await balanceOf(world.db.owner, accounts.receivable(network, wallet, 'credit'))
      const spared = credit - owes - (come - gone)
      if (spared < 0n || spared % refundCostMicro !== 0n || spared / refundCostMicro > free)
        throw new Violation(
          'I9',
          `${wallet} has ${credit} - ${owes} credit on ${network}; ${come} came and ${gone} went`,
        )
    }
}

/** Money that came after its payment was refused goes back without it, by two payouts where it is at two addresses. */
const refundCostMicro = 10_000n
