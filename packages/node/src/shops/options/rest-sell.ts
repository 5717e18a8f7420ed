import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { Problem } from '@assay/till/kernel/problem'
import type { Tx } from '@assay/till/store/database'
import type { OptionDeps } from './deps.ts'
import { optionProblems } from './problems.ts'
import { lockSeries, type Series, writeEvents } from './series-store.ts'
import type { Withdrawal, Withdrawn } from './withdraw.ts'

type Sell = { series: Pick<Series, 'symbol'>; positionId: string; quantity: number; limitMicro: Micro }

/** The order to sell of a position, in place of the one before: a position has one. Nothing leaves it until it is matched. */
export async function setSell(deps: OptionDeps, tx: Tx, { series, positionId, quantity, limitMicro }: Sell) {
  const { symbol } = series
  const now = new Date(deps.clock.nowMs())
  const { rowCount } = await tx.query(
    `with moved as (update option_series set seq = seq + 1 where symbol = $2 and $3 > 0 returning seq)
     update option_position set sell_micro = case when $3 > 0 then $4::bigint end, sell_quantity = nullif($3, 0),
       sell_seq = (select seq from moved), sell_at = case when $3 > 0 then $5::timestamptz end
     where id = $1 and ($3 > 0 or sell_micro is not null)`,
    [positionId, symbol, quantity, limitMicro, now],
  )
  if (rowCount > 0 && quantity > 0)
    await writeEvents(
      tx,
      [{ symbol, kind: 'asked', subject: positionId, quantity, priceMicro: limitMicro }],
      now.getTime(),
    )
}

type Asked = { symbol: string; holder: Address; open: number | null; limit_micro: Micro }

/** Withdraws the order to sell of a position, or a part of it; the contracts are the holder's all the time. */
export async function withdrawSell(deps: OptionDeps, { offerId, writer, ...wanted }: Withdrawal): Promise<Withdrawn> {
  return deps.database.transaction(async (tx) => {
    const find = async (lock = '') =>
      (
        await tx.query<Asked>(
          `select symbol, holder, least(sell_quantity, quantity) as open, sell_micro as limit_micro
           from option_position where id = $1 and state = 'open' ${lock}`,
          [offerId],
        )
      ).rows[0]
    const found = await find()
    if (!found || found.holder !== writer) throw new Problem(optionProblems.offer_unknown)
    await lockSeries(tx, [found.symbol])
    const open = (await find('for update'))?.open ?? 0
    const quantity = wanted.quantity ?? open
    if (quantity === 0 || quantity > open)
      throw new Problem(optionProblems.collateral_locked, { extra: { free_quantity: open } })
    const left = open - quantity
    if (left > 0) await tx.query(`update option_position set sell_quantity = $2 where id = $1`, [offerId, left])
    else await setSell(deps, tx, { series: found, positionId: offerId, quantity: 0, limitMicro: found.limit_micro })
    const event = { symbol: found.symbol, kind: 'withdrawn' as const, subject: offerId, quantity }
    await writeEvents(tx, [event], deps.clock.nowMs())
    return { symbol: found.symbol, quantity, left, returnedMicro: 0n }
  })
}
