import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { Tx } from '@assay/till/store/database'
import { isTradable, type Side, sides } from './book-sides.ts'
import type { OptionDeps } from './deps.ts'
import { premiumHighestMicro } from './domain/contract-terms.ts'
import { finalValues, moneyIsFinal } from './final-money.ts'
import type { Series } from './series-store.ts'

export type BookRow = { id: string; wallet: Address; price_micro: Micro; seq: bigint; open_quantity: number }

const columns = ({ owner }: (typeof sides)[Side]) => `o.id, o.${owner} as wallet, o.price_micro, o.seq, o.open_quantity`

/** SQL: the holder's order to sell of position `o` can be traded; as with other orders, none from before a restore. */
export const isForSale = `o.state = 'open' and o.sell_micro is not null
  and not exists (select from restore_gap g where g.noticed_at >= o.sell_at)`

/** At a price that nobody asks, not even the vault, no order is read. */
export async function lowestAsk(tx: Tx, { symbol, modelMicro }: Series): Promise<Micro> {
  const { rows } = await tx.query<{ micro: Micro | null }>(
    `select least((select min(price_micro) from option_order o where symbol = $1 and ${isTradable}),
       (select min(sell_micro) from option_position o where symbol = $1 and ${isForSale}), $2)::bigint as micro`,
    [symbol, modelMicro],
  )
  return rows[0]?.micro ?? premiumHighestMicro + 1n
}

/** Orders to buy at this price or above, highest first, oldest first at a price; the lock of the series is theirs too. */
export async function readBids(tx: Tx, { symbol }: Series, fromMicro: Micro): Promise<BookRow[]> {
  const { rows } = await tx.query<BookRow>(
    `select ${columns(sides.order)} from option_bid o where symbol = $1 and price_micro >= $2 and ${isTradable}
     order by price_micro desc, seq`,
    [symbol, fromMicro],
  )
  return rows
}

/** Offers of writers up to this price, lowest first, oldest first at a price. */
export async function readOffers(tx: Tx, { symbol }: Series, upToMicro: Micro): Promise<BookRow[]> {
  const { rows } = await tx.query<BookRow>(
    `select ${columns(sides.offer)} from option_order o where symbol = $1 and price_micro <= $2 and ${isTradable}
     order by price_micro, seq`,
    [symbol, upToMicro],
  )
  return rows
}

/** Orders of holders to sell up to this price; the id is that of the position. What was paid for it is final. */
export async function readSells(deps: OptionDeps, tx: Tx, { symbol }: Series, upToMicro: Micro): Promise<BookRow[]> {
  const { rows } = await tx.query<BookRow>(
    `select o.id, o.holder as wallet, o.sell_micro as price_micro, o.sell_seq as seq,
       least(o.sell_quantity, o.quantity) as open_quantity
     from option_position o where o.symbol = $3 and o.sell_micro <= $4 and ${isForSale}
       and ${moneyIsFinal('o.holder', 'o.opened_at')} order by o.sell_micro, o.sell_seq for update of o`,
    [...finalValues(deps), symbol, upToMicro],
  )
  return rows
}
