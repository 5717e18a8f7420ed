import { NotRefundable, type Sale } from '@assay/till'
import { SaleImpossible } from '@assay/till/internal'
import { accounts, post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { type Side, sides } from './book-sides.ts'
import type { OptionDeps } from './deps.ts'
import { isTraded, lockSeries, writeEvents } from './series-store.ts'

/** What is kept with the payment of an offer or an order to buy. */
export type Placing = { order: string; symbol: string; price: string; quantity: number; immediate: boolean }

/** It waits until its money is final; the money is behind the series, or behind its orders, from now on. */
export async function commitPlaced(deps: OptionDeps, tx: Tx, side: Side, sale: Sale): Promise<undefined> {
  if (sale.network !== deps.network) throw new Error(`options are paid on ${deps.network}`)
  const { order, symbol, price, quantity, immediate } = sale.reservation as unknown as Placing
  const { table, owner, account, kind, lockedMicro } = sides[side]
  // Locked, so that a settlement either sees this row or has already ended the series.
  const series = (await lockSeries(tx, [symbol])).get(symbol)
  const isSecondTime = sale.round > 0
  if (!series || !isTraded(series, sale.settledAtMs) || isSecondTime)
    throw new SaleImpossible('the series was closed when the money arrived')
  if (lockedMicro(series.capMicro, BigInt(price)) * BigInt(quantity) !== sale.amountMicro)
    throw new SaleImpossible('the amount is not what these contracts need')
  await tx.query(
    `insert into ${table} (id, symbol, ${owner}, payment_id, price_micro, quantity, open_quantity, immediate, state, created_at)
     values ($1, $2, $3, $4, $5, $6, $6, $7, 'pending', $8)`,
    [order, symbol, sale.payer, sale.paymentId, price, quantity, immediate, new Date(sale.settledAtMs)],
  )
  await post(tx, [
    {
      reference: `${kind}:${order}`,
      kind,
      paymentId: sale.paymentId,
      lines: [
        { account: accounts.clearingPayments(deps.network), amount: sale.amountMicro },
        { account: account(deps.network, symbol), amount: -sale.amountMicro },
      ],
    },
  ])
  return undefined
}

/** Nothing is traded on it before its money is final, so a reorg finds it whole. */
export async function revokePlaced(deps: OptionDeps, tx: Tx, side: Side, sale: Sale): Promise<void> {
  const { order, symbol, quantity } = sale.reservation as unknown as Placing
  await lockSeries(tx, [symbol])
  const { rowCount } = await tx.query(
    `update ${sides[side].table} set state = 'revoked', open_quantity = 0
     where id = $1 and state in ('pending', 'live') and open_quantity = quantity`,
    [order],
  )
  if (rowCount === 0) throw new NotRefundable(`${order} was used, its money cannot be reversed`)
  await tx.query(`update option_series set seq = seq + 1 where symbol = $1`, [symbol])
  await writeEvents(tx, [{ symbol, kind: 'revoked', subject: order, quantity }], deps.clock.nowMs())
}
