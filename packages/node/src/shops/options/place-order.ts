import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import { formatUsd, type Micro } from '@assay/protocol/money'
import type { AnswerContent, Sale } from '@assay/till'
import { type PreparedAnswer, SaleImpossible } from '@assay/till/internal'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { accounts, post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { jsonAnswer } from '../../http/index.ts'
import { optionAccounts } from './accounts.ts'
import type { OptionDeps } from './deps.ts'
import { requireEligible } from './eligibility.ts'
import { isTraded, lockSeries, writeEvents } from './series-store.ts'
import { collateralOf, premiumAsked, requireTraded } from './write-contracts.ts'

export type OrderBody = { symbol: string; limit_usd: string; quantity?: number; immediate?: boolean }

type Reservation = { order: string; symbol: string; limit: string; quantity: number; immediate: boolean }

/** An order to buy at a limit: its whole premium is paid before it enters the book. */
export async function prepareOrder(
  deps: OptionDeps,
  body: OrderBody,
  call: { payer: Address },
): Promise<PreparedAnswer> {
  await deps.requireTrading()
  await requireEligible(deps, call.payer, 'buy')
  const limitMicro = premiumAsked(body.limit_usd, 'limit_usd')
  const series = await requireTraded(deps, body.symbol)
  const quantity = body.quantity ?? 1
  // A limit of all that a contract can pay would be a gift.
  collateralOf(series, limitMicro, quantity)
  const immediate = body.immediate ?? false
  const order = deps.ids.next('ord')
  return {
    answer: jsonAnswer({
      order_id: order,
      symbol: series.symbol,
      wallet: checksumAddress(call.payer),
      quantity,
      limit_micro: limitMicro.toString(),
      limit_usd: formatUsd(limitMicro),
      paid_micro: (limitMicro * BigInt(quantity)).toString(),
      immediate,
      last_trade_at: toRfc3339(series.lastTradeAtMs),
      state: 'pending',
      note: 'The order enters the book once its money is final. What is not bought is paid back.',
      ...(series.synthetic ? { synthetic: true } : {}),
    }),
    reservation: { order, symbol: series.symbol, limit: limitMicro.toString(), quantity, immediate } satisfies Json,
  }
}

export async function commitOrder(deps: OptionDeps, tx: Tx, sale: Sale): Promise<AnswerContent | undefined> {
  if (sale.network !== deps.network) throw new Error(`options are paid on ${deps.network}`)
  const { order, symbol, limit, quantity, immediate } = sale.reservation as unknown as Reservation
  // Locked, so that a settlement either sees this order or has already ended the series.
  const series = (await lockSeries(tx, [symbol])).get(symbol)
  const isSecondTime = sale.round > 0
  if (!series || !isTraded(series, sale.settledAtMs) || isSecondTime)
    throw new SaleImpossible('the series was closed when the money arrived')
  const owedMicro: Micro = BigInt(limit) * BigInt(quantity)
  if (owedMicro !== sale.amountMicro) throw new SaleImpossible('the amount is not the limit of these contracts')
  await tx.query(
    `insert into option_bid (id, symbol, bidder, payment_id, price_micro, quantity, open_quantity, immediate, state, created_at)
     values ($1, $2, $3, $4, $5, $6, $6, $7, 'pending', $8)`,
    [order, symbol, sale.payer, sale.paymentId, limit, quantity, immediate, new Date(sale.settledAtMs)],
  )
  await post(tx, [
    {
      reference: `option_order:${order}`,
      kind: 'option_order',
      paymentId: sale.paymentId,
      lines: [
        { account: accounts.clearingPayments(deps.network), amount: sale.amountMicro },
        { account: optionAccounts.orders(deps.network, symbol), amount: -sale.amountMicro },
      ],
    },
  ])
  return undefined
}

/** Nothing is bought for an order before its money is final, so a reorg finds it whole. */
export async function revokeOrder(deps: OptionDeps, tx: Tx, sale: Sale): Promise<void> {
  const { order, symbol, quantity } = sale.reservation as unknown as Reservation
  await lockSeries(tx, [symbol])
  const { rowCount } = await tx.query(
    `update option_bid set state = 'revoked', open_quantity = 0
     where id = $1 and state in ('pending', 'live') and open_quantity = quantity`,
    [order],
  )
  if (rowCount === 0) throw new Error(`the order ${order} was used, its money cannot be taken back`)
  await tx.query(`update option_series set seq = seq + 1 where symbol = $1`, [symbol])
  await writeEvents(tx, [{ symbol, kind: 'revoked', subject: order, quantity }], deps.clock.nowMs())
}
