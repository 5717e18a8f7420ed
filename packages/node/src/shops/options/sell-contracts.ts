import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import type { Tx } from '@assay/till/store/database'
import {
  type Closed,
  lockedByVault,
  lockPosition,
  noBid,
  type Part,
  partsOf,
  takeFromPosition,
} from './close-contracts.ts'
import type { OptionDeps } from './deps.ts'
import { type Sale, sellParts } from './domain/sell-parts.ts'
import { payShares, type Share } from './pay-shares.ts'
import { type BookRow, readBids } from './read-book.ts'
import { readWanted } from './reserve-store.ts'
import { setSell } from './rest-sell.ts'
import { type Series, writeEvents } from './series-store.ts'
import { type Debts, debtsOf } from './set-off-debts.ts'

/** `rest`: what finds no taker waits in the book at the limit. */
export type Selling = {
  positionId: string
  holder: Address
  limitMicro: Micro
  quantity?: number | undefined
  rest?: boolean | undefined
}

/** Contracts that go to one order, at the price of whichever was in the book first. */
export type Sold = Sale<Part, BookRow> & { priceMicro: Micro }

/** Sells contracts of a position to orders in the book that pay `limitMicro` or more: as many as there are takers for. */
export async function sellContracts(deps: OptionDeps, selling: Selling): Promise<Closed & { waiting: number }> {
  const { positionId, limitMicro, rest = false } = selling
  return deps.database.transaction(async (tx) => {
    const { held, series } = await lockPosition(deps, tx, selling)
    const wanted = Math.min(selling.quantity ?? held.quantity, held.quantity)
    const { sales, debts } = await findBuyers(deps, tx, series, { ...selling, wanted })
    if (sales.length === 0 && !rest) throw noBid(0)
    const sold = await transferContracts(deps, tx, { series, positionId, holder: held.holder, sales, debts })
    const waiting = rest ? wanted - sold.quantity : 0
    if (rest) await setSell(deps, tx, { series, positionId, quantity: waiting, limitMicro })
    return { symbol: series.symbol, left: held.quantity - sold.quantity, waiting, ...sold }
  })
}

type Transfer = { series: Series; positionId: string; holder: Address; sales: readonly Sold[]; debts: Debts }

/** Moves contracts from a position to those who ordered them, and the money the other way. */
export async function transferContracts(deps: OptionDeps, tx: Tx, transfer: Transfer) {
  const { series, positionId, holder, sales, debts } = transfer
  if (sales.length === 0) return { quantity: 0, paidMicro: 0n, laterMicro: 0n }
  const { symbol, capMicro } = series
  const id = deps.ids.next('cls')
  const seller = sumShare(holder, sales, ({ priceMicro, part }) => [priceMicro, part.paid_micro])
  const priceMicro = seller.fixedMicro
  const taken = sales.map(asPart)
  await takeFromPosition(deps, tx, { id, positionId, capMicro, taken, paidMicro: priceMicro, toVault: false })
  const bids = [...new Set(sales.map(({ bid }) => bid))]
  const of = (bid: BookRow) => sales.filter((sale) => sale.bid === bid)
  for (const bid of bids) await fillBid(deps, tx, series, bid, of(bid))
  const ended = sales.filter(({ isBoughtBack }) => isBoughtBack)
  await tx.query(`update option_series set seq = seq + 1, sold = sold - $2 where symbol = $1`, [symbol, count(ended)])
  const saved = bids.map((bid) => sumShare(bid.wallet, of(bid), (sale) => twice(bid.price_micro - sale.priceMicro)))
  const orderMicro = saved.reduce((sum, { fixedMicro }) => sum + fixedMicro, priceMicro)
  const shares = [seller, ...writerShares(series, ended), ...saved]
  await payShares(deps, tx, { id, series, debts, shares, orderMicro })
  const quantity = count(sales)
  await writeEvents(tx, [{ symbol, kind: 'closed', subject: positionId, quantity, priceMicro }], deps.clock.nowMs())
  const paidMicro = smallerOf(priceMicro, seller.voidMicro)
  return { quantity, paidMicro, laterMicro: priceMicro - paidMicro }
}

const twice = (micro: Micro): [Micro, Micro] => [micro, micro]

/** Orders of others that may be filled, and what each of them takes. */
async function findBuyers(deps: OptionDeps, tx: Tx, series: Series, selling: Selling & { wanted: number }) {
  const bids = (await readBids(tx, series, selling.limitMicro)).filter(({ wallet }) => wallet !== selling.holder)
  // In the order in which a settlement locks them: debts, then the vault.
  const debts = await debtsOf(deps, tx, [selling.holder, ...bids.map(({ wallet }) => wallet)])
  const buyers = bids.filter(({ wallet }) => !debts.has(wallet))
  const { held: contracts } = await readWanted(
    tx,
    buyers.map(({ id, wallet }) => ({ symbol: series.symbol, holder: wallet, paymentId: id, quantity: 0 })),
  )
  const sales = sellParts(
    await partsOf(tx, selling.positionId),
    buyers,
    selling.wanted,
    (wallet) => deps.settings.contractsPerWallet - (contracts.get(`${series.symbol} ${wallet}`) ?? 0),
  )
  return { sales: sales.map((sale) => ({ ...sale, priceMicro: sale.bid.price_micro })), debts }
}

/**
 * What a writer gets for contracts bought back: all their collateral if the series settles, and if it is void what was paid
 * in for them and for the buy-back.
 */
const writerShares = ({ capMicro }: Series, ended: readonly Sold[]): Share[] =>
  [...new Set(ended.map(({ bid }) => bid.wallet))].map((wallet) =>
    sumShare(
      wallet,
      ended.filter(({ bid }) => bid.wallet === wallet),
      ({ part, priceMicro }) => [capMicro, capMicro - part.price_micro + priceMicro],
    ),
  )

const count = (sales: readonly Sold[]): number => sales.reduce((sum, { quantity }) => sum + quantity, 0)
const asPart = ({ part, quantity }: Sold): Part => ({ ...part, quantity })

const sumShare = (wallet: Address, sales: readonly Sold[], of: (sale: Sold) => [fixed: Micro, void_: Micro]): Share =>
  sales.reduce(
    (share, sale) => {
      const [fixed, void_] = of(sale)
      const count = BigInt(sale.quantity)
      return { wallet, fixedMicro: share.fixedMicro + count * fixed, voidMicro: share.voidMicro + count * void_ }
    },
    { wallet, fixedMicro: 0n, voidMicro: 0n },
  )

/** The order has so much less to buy, and what it did not buy back is a separate position. */
async function fillBid(deps: OptionDeps, tx: Tx, series: Series, bid: BookRow, sales: readonly Sold[]): Promise<void> {
  await tx.query(
    `update option_bid set open_quantity = open_quantity - $2, state = case when open_quantity = $2 then 'closed' else state end where id = $1`,
    [bid.id, count(sales)],
  )
  const moved = sales.filter(({ isBoughtBack }) => !isBoughtBack)
  const quantity = count(moved)
  if (quantity === 0) return
  const id = deps.ids.next('opt')
  const nowMs = deps.clock.nowMs()
  const premiumMicro = moved.reduce((sum, sale) => sum + BigInt(sale.quantity) * sale.priceMicro, 0n)
  const vaultMicro = lockedByVault(moved.map(asPart), series.capMicro)
  await tx.query(
    `insert into option_position (id, symbol, holder, payment_id, quantity, premium_micro, vault_micro, state, reserved_at, held_until, opened_at)
     values ($1, $2, $3, $4, $5, $6, $7, 'open', $8, $8, $8)`,
    [id, series.symbol, bid.wallet, `${bid.id}:${id}`, quantity, premiumMicro, vaultMicro, new Date(nowMs)],
  )
  await tx.query(
    `insert into option_fill (position_id, place, order_id, writer, quantity, price_micro, paid_micro)
     select $1, (place - 1)::integer, order_id, writer, quantity, price, paid
     from unnest($2::text[], $3::text[], $4::integer[], $5::bigint[], $6::bigint[])
       with ordinality f (order_id, writer, quantity, price, paid, place)`,
    [
      id,
      moved.map(({ part }) => part.order_id),
      moved.map(({ part }) => part.writer),
      moved.map((sale) => sale.quantity),
      moved.map(({ part }) => part.price_micro),
      moved.map(({ priceMicro }) => priceMicro),
    ],
  )
  await writeEvents(
    tx,
    [{ symbol: series.symbol, kind: 'sold', subject: id, quantity, priceMicro: premiumMicro }],
    nowMs,
  )
}
