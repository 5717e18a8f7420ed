import type { Address } from '../../packages/node/src/kernel/address.ts'
import { accounts, balanceOf, openClearing, owedTo } from '../../packages/node/src/ledger/index.ts'
import type { Scene } from './buyers.ts'
import { hasOwnAddress, readPayments, resourceOf } from './check-answers.ts'
import { checkCreators, claimedBy } from './check-creators.ts'
import { scanTransfers } from './scan-transfers.ts'
import { has } from './shops.ts'
import { tokenBalance } from './token-balance.ts'
import { Violation } from './violation.ts'
import { fundedMicro } from './world.ts'

/** What must be so once nothing is under way: all money is accounted for, on the chain and in the books. */
export async function checkMoney(scene: Scene): Promise<void> {
  const { world } = scene
  await scanTransfers(scene)
  const [open] = await openClearing(world.db.owner)
  if (open) throw new Violation('I7', `${open.name} still holds ${open.balanceMicro} for ${open.paymentId}`)
  await checkPayers(scene)
  await checkOwnAddresses(scene)
  await checkPayouts(scene)
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
        `${order.id} was answered for ${served} payments: ${JSON.stringify(own.map(({ id, state, reason }) => [id, state, reason]))}`,
      )
  }
}

/** What each payer is short of on chain is what its payments took, less what was paid back to it. */
export async function checkPayers(scene: Scene): Promise<void> {
  const { world } = scene
  const payments = await readPayments(scene)
  const { rows: payouts } = await world.db.owner.query<{ network: string; payee: string; micro: bigint }>(
    `select network, payee, sum(amount_micro)::bigint as micro from payout where state = 'paid' group by network, payee`,
  )
  for (const chain of world.chains)
    for (const buyer of world.buyers) {
      const payer = buyer.address.toLowerCase()
      const network = `eip155:${chain.chainId}`
      const of = <T extends { network: string }>(list: readonly T[]) => list.filter((one) => one.network === network)
      const taken = of(payments)
        .filter((one) => one.payer === payer && ['served', 'credited', 'refunded'].includes(one.state))
        .reduce((sum, one) => sum + one.amount_micro, 0n)
      const paidOut = of(payouts).find(({ payee }) => payee === payer)?.micro ?? 0n
      const given = paidOut + (await claimedBy(scene, network, payer))
      const plain = await plainTransfersOf(scene, network, payer)
      const spent = fundedMicro - (await tokenBalance(chain, payer))
      if (spent !== taken - given + plain)
        throw new Violation(
          'I9',
          `${payer} spent ${spent} on ${network}; the node knows of ${taken} - ${given} + ${plain}`,
        )
    }
}

async function plainTransfersOf({ world }: Scene, network: string, payer: string): Promise<bigint> {
  const { rows } = await world.db.owner.query<{ micro: bigint | null }>(
    `select sum(amount_micro)::bigint as micro from inbound_review where network = $1 and sender = $2`,
    [network, payer],
  )
  return rows[0]?.micro ?? 0n
}

/** I9: what the books call ours lies at our addresses, to the micro. */
export async function checkOwnAddresses(scene: Scene): Promise<void> {
  const { world } = scene
  for (const chain of world.chains)
    for (const [wallet, address] of [['pay_to', world.payTo] as const, ['custody', world.custody] as const]) {
      const { rows } = await world.db.owner.query<{ micro: bigint | null }>(
        `select sum(e.amount_micro)::bigint as micro from ledger_entry e join ledger_account a on a.id = e.account_id where a.name = $1`,
        [`onchain:${wallet}@eip155:${chain.chainId}`],
      )
      const there = await tokenBalance(chain, address)
      if ((rows[0]?.micro ?? 0n) !== there)
        throw new Violation('I9', `${wallet} on ${chain.chainId} holds ${there}, the books say ${rows[0]?.micro}`)
    }
}

/** I8: a payout that is called paid is one transfer, and no other transfer left custody. */
export async function checkPayouts(scene: Scene): Promise<void> {
  const { world, history } = scene
  const { rows } = await world.db.owner.query<{
    id: string
    network: string
    payee: string
    amount_micro: bigint
    transaction: string
  }>(`select id, network, payee, amount_micro, transaction from payout where state = 'paid'`)
  const left = [...history.transfers.values()].filter(({ from }) => from === world.custody)
  for (const payout of rows) {
    const index = left.findIndex(
      ({ transaction, to, micro, chainId }) =>
        transaction === payout.transaction &&
        to === payout.payee &&
        micro === payout.amount_micro &&
        `eip155:${chainId}` === payout.network,
    )
    if (index < 0) throw new Violation('I8', `${payout.id} is called paid and no transfer shows it`)
    left.splice(index, 1)
  }
}

/**
 * I9, wallet by wallet: what is left of a credit is what came into it less what was drawn from it, from the rows of
 * payments, calls and payouts and not from the books. The exchange pays into credit by rules of its own.
 */
export async function checkCredit(scene: Scene): Promise<void> {
  const { world } = scene
  if (has(world.seed, 'exchange')) return
  for (const { chainId } of world.chains)
    for (const { address } of world.buyers) {
      const network = `eip155:${chainId}`
      const wallet = address.toLowerCase() as Address
      const { rows } = await world.db.owner.query<{ come: bigint; gone: bigint }>(
        `select (select coalesce(sum(amount_micro), 0) from payment where network = $1 and payer = $2
             and (state = 'credited' or (state = 'served' and route_id like 'credit.topup%')))::bigint
           + (select coalesce(sum(micro), 0) from creator_accrual where network = $1 and payer = $2 and state = 'expired')::bigint as come,
           (select coalesce(sum(amount), 0) from entitled_call where port = 'credit' and subject = $1 and account = $2
             and state <> 'released')::bigint
           + (select coalesce(sum(amount_micro + $3), 0) from payout where network = $1 and payee = $2
             and purpose = 'credit_refund' and state <> 'returned')::bigint as gone`,
        [network, wallet, refundCostMicro],
      )
      const { come, gone } = rows[0] ?? { come: 0n, gone: 0n }
      const credit = await owedTo(world.db.owner, accounts.credit(network, wallet))
      const owes = await balanceOf(world.db.owner, accounts.receivable(network, wallet, 'credit'))
      if (credit - owes !== come - gone)
        throw new Violation(
          'I9',
          `${wallet} has ${credit} - ${owes} credit on ${network}; ${come} came and ${gone} went`,
        )
    }
}

const refundCostMicro = 10_000n
