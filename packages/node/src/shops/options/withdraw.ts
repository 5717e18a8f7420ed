import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { Problem } from '@assay/till/kernel/problem'
import { post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { type Side, sideOf, sides } from './book-sides.ts'
import type { OptionDeps } from './deps.ts'
import { finalValues, moneyIsFinal } from './final-money.ts'
import { optionProblems } from './problems.ts'
import { lockSeries, type Series, writeEvents } from './series-store.ts'
import { debtsOf, payoutLines } from './set-off-debts.ts'

type Open = { id: string; wallet: Address; price_micro: Micro; open_quantity: number }

const perStepMax = 200

/**
 * Offers or orders that have no chance left go back: all of a series that has ended, also those that a debt of their owner
 * kept out of the book; otherwise those that were immediate.
 */
export async function returnOpen(
  deps: OptionDeps,
  tx: Tx,
  side: Side,
  symbol: string,
  which: 'all' | 'immediate',
): Promise<number> {
  const series = (await lockSeries(tx, [symbol])).get(symbol)
  if (!series) return 0
  const { table, owner } = sides[side]
  const { rows } = await tx.query<Open>(
    `select id, ${owner} as wallet, price_micro, open_quantity from ${table} o where symbol = $3 and open_quantity > 0
       and (state = 'live' or ($5 = 'all' and state = 'pending' and ${moneyIsFinal(`o.${owner}`, 'o.created_at')}))
       and ($5 = 'all' or immediate) order by id limit $4 for update`,
    [...finalValues(deps), symbol, perStepMax, which],
  )
  await returnMoney(deps, tx, side, series, rows)
  return rows.length
}

/** The money of contracts that were not traded goes back to their owners, as payouts. */
async function returnMoney(
  deps: OptionDeps,
  tx: Tx,
  side: Side,
  series: Series,
  rows: readonly Open[],
): Promise<Micro> {
  if (rows.length === 0) return 0n
  const { table, account, lockedMicro } = sides[side]
  const { symbol, capMicro } = series
  await tx.query(
    `update ${table} o set open_quantity = o.open_quantity - d.quantity,
       state = case when o.open_quantity = d.quantity then 'closed' else o.state end
     from unnest($1::text[], $2::integer[]) d (id, quantity) where o.id = d.id`,
    [rows.map(({ id }) => id), rows.map(({ open_quantity }) => open_quantity)],
  )
  await tx.query(`update option_series set seq = seq + 1 where symbol = $1`, [symbol])
  const debts = await debtsOf(
    deps,
    tx,
    rows.map(({ wallet }) => wallet),
  )
  let totalMicro = 0n
  const postings = rows.map(({ id, wallet, price_micro, open_quantity }) => {
    const micro = BigInt(open_quantity) * lockedMicro(capMicro, price_micro)
    totalMicro += micro
    return {
      // It goes back in parts, and a reservation that fell through can fill it again: each return has the number of its change.
      reference: `option_return:${id}:${series.seq}`,
      kind: 'option_return',
      lines: [{ account: account(deps.network, symbol), amount: micro }, ...payoutLines(deps, debts, wallet, micro)],
    }
  })
  await post(tx, postings)
  await writeEvents(
    tx,
    rows.map(({ id, open_quantity }) => ({ symbol, kind: 'withdrawn', subject: id, quantity: open_quantity })),
    deps.clock.nowMs(),
  )
  return totalMicro
}

export type Withdrawal = { offerId: string; writer: Address; quantity?: number | undefined }
export type Withdrawn = { symbol: string; quantity: number; left: number; returnedMicro: Micro }

/** Withdraws an offer or an order to buy, or a part of it: what nobody bought, sold or reserved. */
export async function withdraw(deps: OptionDeps, { offerId, writer, ...wanted }: Withdrawal): Promise<Withdrawn> {
  const side = sideOf(offerId)
  const { table, owner } = sides[side]
  return deps.database.transaction(async (tx) => {
    const find = async (lock = '') =>
      (
        await tx.query<Open & { symbol: string; state: string }>(
          `select id, symbol, ${owner} as wallet, price_micro, open_quantity, state from ${table} where id = $1 ${lock}`,
          [offerId],
        )
      ).rows[0]
    const found = await find()
    if (!found || found.wallet !== writer) throw new Problem(optionProblems.offer_unknown)
    const series = (await lockSeries(tx, [found.symbol])).get(found.symbol) as Series
    const open = (await find('for update')) ?? found
    if (open.state === 'pending') throw new Problem(optionProblems.money_not_final, { retryAfterSeconds: 10 })
    const quantity = wanted.quantity ?? open.open_quantity
    if (quantity === 0 || quantity > open.open_quantity)
      throw new Problem(optionProblems.collateral_locked, { extra: { free_quantity: open.open_quantity } })
    const returnedMicro = await returnMoney(deps, tx, side, series, [{ ...open, open_quantity: quantity }])
    return { symbol: open.symbol, quantity, left: open.open_quantity - quantity, returnedMicro }
  })
}
