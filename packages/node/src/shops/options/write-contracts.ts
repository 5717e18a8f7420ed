import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import { formatUsd, type Micro, parseUsd } from '@assay/protocol/money'
import type { AnswerContent, Sale } from '@assay/till'
import { type PreparedAnswer, SaleImpossible } from '@assay/till/internal'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import { accounts, post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { jsonAnswer } from '../../http/index.ts'
import { optionAccounts } from './accounts.ts'
import type { OptionDeps } from './deps.ts'
import { isInBand, premiumHighestMicro, premiumLowestMicro } from './domain/contract-terms.ts'
import { requireEligible } from './eligibility.ts'
import { optionProblems } from './problems.ts'
import { findSeries, isTraded, lockSeries, type Series, writeEvents } from './series-store.ts'

export type WriteBody = { symbol: string; premium_usd: string; quantity?: number; immediate?: boolean }

export function premiumAsked(text: string, field = 'premium_usd'): Micro {
  const micro = parseUsd(text)
  if (micro === undefined || !isInBand(micro))
    throw new Problem(optionProblems.premium_out_of_band, {
      detail: `${field} must be decimal USD from 50 to 120.`,
      extra: { lowest_usd: formatUsd(premiumLowestMicro), highest_usd: formatUsd(premiumHighestMicro) },
    })
  return micro
}

/** The most that can be owed, less the premium that the buyer will add: full collateral from the first moment. */
export function collateralOf(series: Pick<Series, 'capMicro'>, premiumMicro: Micro, quantity: number): Micro {
  if (premiumMicro >= series.capMicro)
    throw new Problem(optionProblems.premium_out_of_band, {
      detail: 'The premium would be more than the contract can ever pay.',
    })
  return (series.capMicro - premiumMicro) * BigInt(quantity)
}

type Reservation = { order: string; symbol: string; premium: string; quantity: number; immediate?: boolean }

export async function prepareWrite(
  deps: OptionDeps,
  body: WriteBody,
  call: { payer: Address },
): Promise<PreparedAnswer> {
  await deps.requireTrading()
  await requireEligible(deps, call.payer, 'write')
  const premiumMicro = premiumAsked(body.premium_usd)
  const series = await requireTraded(deps, body.symbol)
  const quantity = body.quantity ?? 1
  const order = deps.ids.next('ofr')
  return {
    answer: jsonAnswer({
      offer_id: order,
      symbol: series.symbol,
      wallet: checksumAddress(call.payer),
      quantity,
      premium_micro: premiumMicro.toString(),
      premium_usd: formatUsd(premiumMicro),
      collateral_micro: collateralOf(series, premiumMicro, quantity).toString(),
      most_micro: (series.capMicro * BigInt(quantity)).toString(),
      expires_at: toRfc3339(series.expiresAtMs),
      state: 'pending',
      note: 'The offer enters the book once its money is final. Unsold contracts can be withdrawn.',
      ...(series.synthetic ? { synthetic: true } : {}),
    }),
    reservation: {
      order,
      symbol: series.symbol,
      premium: premiumMicro.toString(),
      quantity,
      immediate: body.immediate ?? false,
    } satisfies Json,
  }
}

export async function requireTraded(deps: Pick<OptionDeps, 'database' | 'clock'>, symbol: string): Promise<Series> {
  const series = await findSeries(deps.database, symbol)
  if (!series) throw new Problem(optionProblems.series_unknown)
  if (!isTraded(series, deps.clock.nowMs())) throw new Problem(optionProblems.series_closed)
  return series
}

export async function commitWrite(deps: OptionDeps, tx: Tx, sale: Sale): Promise<AnswerContent | undefined> {
  if (sale.network !== deps.network) throw new Error(`options are paid on ${deps.network}`)
  const { order, symbol, premium, quantity, immediate = false } = sale.reservation as unknown as Reservation
  // Locked, so that a settlement either sees this offer or has already ended the series.
  const series = (await lockSeries(tx, [symbol])).get(symbol)
  const isSecondTime = sale.round > 0
  if (!series || !isTraded(series, sale.settledAtMs) || isSecondTime)
    throw new SaleImpossible('the series was closed when the money arrived')
  if (collateralOf(series, BigInt(premium), quantity) !== sale.amountMicro)
    throw new SaleImpossible('the collateral is not what these contracts need')
  await tx.query(
    `insert into option_order (id, symbol, writer, payment_id, price_micro, quantity, open_quantity, immediate, state, created_at)
     values ($1, $2, $3, $4, $5, $6, $6, $7, 'pending', $8)`,
    [order, symbol, sale.payer, sale.paymentId, premium, quantity, immediate, new Date(sale.settledAtMs)],
  )
  await post(tx, [
    {
      reference: `option_write:${order}`,
      kind: 'option_write',
      paymentId: sale.paymentId,
      lines: [
        { account: accounts.clearingPayments(deps.network), amount: sale.amountMicro },
        { account: optionAccounts.collateral(deps.network, symbol), amount: -sale.amountMicro },
      ],
    },
  ])
  return undefined
}

/** Nothing is sold on an offer before its money is final, so a reorg finds it whole. */
export async function revokeWrite(deps: OptionDeps, tx: Tx, sale: Sale): Promise<void> {
  const { order, symbol, quantity } = sale.reservation as unknown as Reservation
  await lockSeries(tx, [symbol])
  const { rowCount } = await tx.query(
    `update option_order set state = 'revoked', open_quantity = 0
     where id = $1 and state in ('pending', 'live') and open_quantity = quantity`,
    [order],
  )
  if (rowCount === 0) throw new Error(`the offer ${order} was used, its collateral cannot be taken back`)
  await tx.query(`update option_series set seq = seq + 1 where symbol = $1`, [symbol])
  await writeEvents(tx, [{ symbol, kind: 'revoked', subject: order, quantity }], deps.clock.nowMs())
}
