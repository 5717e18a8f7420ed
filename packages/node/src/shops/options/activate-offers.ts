import type { Micro } from '@assay/protocol/money'
import { type Side, sides } from './book-sides.ts'
import type { OptionDeps } from './deps.ts'
import { finalValues, moneyIsFinal } from './final-money.ts'
import { lockSeries, writeEvents } from './series-store.ts'

type Pending = { id: string; symbol: string; quantity: number; price_micro: Micro }

const perRunMax = 500

/** Offers and orders to buy whose money the chain can no longer reverse enter the book, in the order in which they came. */
export async function activateOffers(deps: OptionDeps): Promise<number> {
  return (await activate(deps, 'offer')) + (await activate(deps, 'order'))
}

async function activate(deps: OptionDeps, side: Side): Promise<number> {
  const { table, owner, event } = sides[side]
  const wallet = `o.${owner}`
  const { rows } = await deps.database.query<Pending>(
    `select o.id, o.symbol, o.quantity, o.price_micro from ${table} o
     where o.state = 'pending' and ${moneyIsFinal(wallet, 'o.created_at')}
       -- Anyone who spent money that a reorg took away owes it: nothing is traded on such an order.
       and not exists (select from ledger_account a
         where a.name = 'receivable:credit:' || ${wallet} || '@' || $1 and ledger_sum(a.id) > 0)
     order by o.created_at, o.id limit $3`,
    [...finalValues(deps), perRunMax],
  )
  if (rows.length === 0) return 0
  await deps.database.transaction(async (tx) => {
    await lockSeries(
      tx,
      rows.map(({ symbol }) => symbol),
    )
    for (const { id, symbol } of rows)
      await tx.query(
        `with moved as (update option_series set seq = seq + 1 where symbol = $2 returning seq)
         update ${table} set state = 'live', seq = (select seq from moved) where id = $1 and state = 'pending'`,
        [id, symbol],
      )
    await writeEvents(
      tx,
      rows.map(({ id, symbol, quantity, price_micro }) => ({
        symbol,
        kind: event,
        subject: id,
        quantity,
        priceMicro: price_micro,
      })),
      deps.clock.nowMs(),
    )
  })
  return rows.length
}
