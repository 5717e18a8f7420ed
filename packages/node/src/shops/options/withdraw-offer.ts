import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { Problem } from '@assay/till/kernel/problem'
import { post } from '@assay/till/ledger'
import { optionAccounts } from './accounts.ts'
import type { OptionDeps } from './deps.ts'
import { optionProblems } from './problems.ts'
import { lockSeries, writeEvents } from './series-store.ts'
import { debtsOf, payoutLines } from './set-off-debts.ts'

export type Withdrawal = { offerId: string; writer: Address; quantity?: number | undefined }

type Offer = {
  symbol: string
  writer: Address
  price_micro: Micro
  open_quantity: number
  quantity: number
  state: 'pending' | 'live' | 'closed' | 'revoked'
}

export type Withdrawn = { symbol: string; quantity: number; left: number; returnedMicro: Micro }

/** Collateral of contracts that nobody bought or reserved goes back to its writer, as a payout. */
export async function withdrawOffer(deps: OptionDeps, wanted: Withdrawal): Promise<Withdrawn> {
  return deps.database.transaction(async (tx) => {
    const found = await tx.query<Offer>(
      `select symbol, writer, price_micro, open_quantity, quantity, state from option_order where id = $1`,
      [wanted.offerId],
    )
    const symbol = found.rows[0]?.symbol
    if (symbol === undefined || found.rows[0]?.writer !== wanted.writer) throw new Problem(optionProblems.offer_unknown)
    const series = (await lockSeries(tx, [symbol])).get(symbol)
    const { rows } = await tx.query<Offer>(
      `select symbol, writer, price_micro, open_quantity, quantity, state from option_order where id = $1 for update`,
      [wanted.offerId],
    )
    const offer = rows[0]
    if (!offer || !series) throw new Problem(optionProblems.offer_unknown)
    if (offer.state === 'pending') throw new Problem(optionProblems.money_not_final, { retryAfterSeconds: 10 })
    const quantity = wanted.quantity ?? offer.open_quantity
    if (quantity === 0 || quantity > offer.open_quantity)
      throw new Problem(optionProblems.collateral_locked, { extra: { free_quantity: offer.open_quantity } })
    const left = offer.open_quantity - quantity
    const returnedMicro = BigInt(quantity) * (series.capMicro - offer.price_micro)
    await tx.query(
      `update option_order set open_quantity = $2, state = case when $2 = 0 then 'closed' else state end where id = $1`,
      [wanted.offerId, left],
    )
    await tx.query(`update option_series set seq = seq + 1 where symbol = $1`, [symbol])
    const debts = await debtsOf(deps, tx, [offer.writer])
    await post(tx, [
      {
        reference: `option_withdraw:${wanted.offerId}:${deps.ids.next('wd')}`,
        kind: 'option_withdraw',
        lines: [
          { account: optionAccounts.collateral(deps.network, symbol), amount: returnedMicro },
          ...payoutLines(deps, debts, offer.writer, returnedMicro),
        ],
      },
    ])
    await writeEvents(tx, [{ symbol, kind: 'withdrawn', subject: wanted.offerId, quantity }], deps.clock.nowMs())
    return { symbol, quantity, left, returnedMicro }
  })
}
