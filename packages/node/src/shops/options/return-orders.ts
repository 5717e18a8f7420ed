import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { Problem } from '@assay/till/kernel/problem'
import { post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { optionAccounts } from './accounts.ts'
import type { OptionDeps } from './deps.ts'
import { finalValues, moneyIsFinal } from './final-money.ts'
import { optionProblems } from './problems.ts'
import { lockSeries, writeEvents } from './series-store.ts'
import { debtsOf, payoutLines } from './set-off-debts.ts'
import type { Withdrawal, Withdrawn } from './withdraw-offer.ts'

export type OpenOrder = { id: string; symbol: string; bidder: Address; price_micro: Micro; open_quantity: number }

const perStepMax = 200

/** Orders to buy that have no chance left: all of a series whose trading ended, otherwise those that were immediate. */
export async function returnOrders(
  deps: OptionDeps,
  tx: Tx,
  symbol: string,
  which: 'all' | 'immediate',
): Promise<number> {
  await lockSeries(tx, [symbol])
  const { rows } = await tx.query<OpenOrder>(
    `select id, symbol, bidder, price_micro, open_quantity from option_bid o where symbol = $3 and open_quantity > 0
       and (state = 'live' or ($5 = 'all' and state = 'pending' and ${moneyIsFinal('o.bidder', 'o.created_at')}))
       and ($5 = 'all' or immediate) order by id limit $4 for update`,
    [...finalValues(deps), symbol, perStepMax, which],
  )
  for (const row of rows) await giveBack(deps, tx, row, row.open_quantity)
  return rows.length
}

/** The money of contracts that were not bought goes back to the bidder, as a payout. */
async function giveBack(deps: OptionDeps, tx: Tx, order: OpenOrder, quantity: number): Promise<Micro> {
  const { id, symbol, bidder, price_micro } = order
  const micro = BigInt(quantity) * price_micro
  await tx.query(
    `update option_bid set open_quantity = open_quantity - $2, state = case when open_quantity = $2 then 'closed' else state end where id = $1`,
    [id, quantity],
  )
  const { rows } = await tx.query<{ seq: bigint }>(
    `update option_series set seq = seq + 1 where symbol = $1 returning seq`,
    [symbol],
  )
  const debts = await debtsOf(deps, tx, [bidder])
  await post(tx, [
    {
      reference: `option_order_back:${id}:${rows[0]?.seq}`,
      kind: 'option_order',
      lines: [
        { account: optionAccounts.orders(deps.network, symbol), amount: micro },
        ...payoutLines(deps, debts, bidder, micro),
      ],
    },
  ])
  await writeEvents(tx, [{ symbol, kind: 'withdrawn', subject: id, quantity }], deps.clock.nowMs())
  return micro
}

/** Takes back an order to buy, or a part of it, at the bidder's request. */
export async function withdrawOrder(deps: OptionDeps, wanted: Withdrawal): Promise<Withdrawn> {
  return deps.database.transaction(async (tx) => {
    const find = async (lock = '') =>
      (
        await tx.query<OpenOrder & { state: string }>(
          `select id, symbol, bidder, price_micro, open_quantity, state from option_bid where id = $1 ${lock}`,
          [wanted.offerId],
        )
      ).rows[0]
    const found = await find()
    if (!found || found.bidder !== wanted.writer) throw new Problem(optionProblems.offer_unknown)
    await lockSeries(tx, [found.symbol])
    const order = (await find('for update')) ?? found
    if (order.state === 'pending') throw new Problem(optionProblems.money_not_final, { retryAfterSeconds: 10 })
    const quantity = wanted.quantity ?? order.open_quantity
    if (quantity === 0 || quantity > order.open_quantity)
      throw new Problem(optionProblems.collateral_locked, { extra: { free_quantity: order.open_quantity } })
    const returnedMicro = await giveBack(deps, tx, order, quantity)
    return { symbol: order.symbol, quantity, left: order.open_quantity - quantity, returnedMicro }
  })
}
