import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { accounts, type LedgerLine, post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { optionAccounts } from './accounts.ts'
import type { Side } from './book-sides.ts'
import { partsOf } from './close-contracts.ts'
import type { OptionDeps } from './deps.ts'
import { crossOrders, type Match } from './domain/cross-orders.ts'
import { sellParts } from './domain/sell-parts.ts'
import { type BookRow, lowestAsk, readBids, readOffers, readSells } from './read-book.ts'
import { vaultOffer } from './reserve-contracts.ts'
import { pushKey, type ReservationDraft, readWanted, type Wanted, writeReservations } from './reserve-store.ts'
import { setSell } from './rest-sell.ts'
import { type Sold, transferContracts } from './sell-contracts.ts'
import { isTraded, lockSeries, type Series, writeEvents } from './series-store.ts'
import { type Debts, debtsOf, payoutLines } from './set-off-debts.ts'
import { returnOpen } from './withdraw.ts'

/** Buys for every order to buy what is offered at its limit or below; what was to be immediate and is left goes back. */
export async function matchOrders(deps: OptionDeps): Promise<number> {
  const { rows } = await deps.database.query<{ symbol: string }>(
    `select symbol from option_bid where state = 'live' and open_quantity > 0
     union select symbol from option_order where state = 'live' and immediate and open_quantity > 0 order by symbol`,
  )
  const paused = await deps.requireTrading().then(
    () => false,
    () => true,
  )
  let matched = 0
  for (const { symbol } of rows)
    try {
      matched += await matchOne(deps, symbol, paused)
    } catch (error) {
      deps.log.error({ symbol, error: String(error) }, 'orders of a series could not be matched yet')
    }
  return matched
}

async function matchOne(deps: OptionDeps, symbol: string, paused: boolean): Promise<number> {
  const { matched, traded } = await deps.database.transaction(async (tx) => {
    const series = (await lockSeries(tx, [symbol])).get(symbol)
    const traded = series !== undefined && isTraded(series, deps.clock.nowMs())
    return { matched: traded && !paused ? await matchSeries(deps, tx, series) : 0, traded }
  })
  // Later and alone, for a settlement locks debts before the vault.
  const give = async (side: Side, which: 'all' | 'immediate') => {
    while ((await deps.database.transaction((tx) => returnOpen(deps, tx, side, symbol, which))) > 0);
  }
  if (!traded) await give('order', 'all')
  else if (!paused) for (const side of ['order', 'offer'] as const) await give(side, 'immediate')
  return matched
}

async function matchSeries(deps: OptionDeps, tx: Tx, series: Series): Promise<number> {
  const bids = await readBids(tx, series, await lowestAsk(tx, series))
  const [best] = bids
  if (!best) return 0
  const offers = await readOffers(tx, series, best.price_micro)
  const held = await readSells(deps, tx, series, best.price_micro)
  // In the order in which a settlement locks them: debts, then the vault.
  const debts = await debtsOf(
    deps,
    tx,
    [...bids, ...offers, ...held].map(({ wallet }) => wallet),
  )
  // As when an order is placed, a wallet in debt does not trade: after a restore it may owe this same money.
  const owesNothing = ({ wallet }: BookRow) => !debts.has(wallet)
  const [buys, sells, resold] = [bids.filter(owesNothing), offers.filter(owesNothing), held.filter(owesNothing)]
  const wanted = await readWanted(
    tx,
    buys.map(({ id, wallet, open_quantity }) => ({
      symbol: series.symbol,
      holder: wallet,
      paymentId: id,
      quantity: open_quantity,
    })),
  )
  const matches = crossOrders({
    buys: buys.map(orderOf),
    sells: [...sells.map(orderOf), ...resold.map((row) => ({ ...orderOf(row), isHeld: true }))].sort(
      (one, other) => one.price - other.price || one.seq - other.seq,
    ),
    ...limitsOf(deps, series, wanted),
  })
  if (matches.length === 0) return 0
  const isResold = ({ sellId }: Match) => resold.some(({ id }) => id === sellId)
  const written = matches.filter((match) => !isResold(match))
  await writeMatches(deps, tx, { series, buys, sells, matches: written, debts, vaultUsedMicro: wanted.vault.usedMicro })
  await resell(deps, tx, { series, buys, sells: resold, matches: matches.filter(isResold), debts })
  return matches.length
}

/** Contracts of holders go to the orders that they were matched with. */
async function resell(
  deps: OptionDeps,
  tx: Tx,
  { series, buys, sells, matches, debts }: Omit<Matched, 'vaultUsedMicro'>,
): Promise<void> {
  for (const { id: positionId, wallet: holder, open_quantity: open, price_micro: limitMicro } of sells) {
    const mine = matches.filter(({ sellId }) => sellId === positionId)
    const parts = await partsOf(tx, positionId)
    const left = () => parts.filter(({ quantity }) => quantity > 0)
    const sales = mine.flatMap(({ buyId, quantity, price }): Sold[] => {
      const bid = buys.find(({ id }) => id === buyId) as BookRow
      const sold = sellParts(left(), [{ ...bid, open_quantity: quantity }], quantity, () => quantity)
      for (const { part, quantity: gone } of sold) part.quantity -= gone
      return sold.map((sale) => ({ ...sale, bid, priceMicro: BigInt(price) }))
    })
    if (sales.length === 0) continue
    const { quantity } = await transferContracts(deps, tx, { series, positionId, holder, sales, debts })
    if (quantity === open) await setSell(deps, tx, { series, positionId, quantity: 0, limitMicro })
    else await tx.query(`update option_position set sell_quantity = $2 where id = $1`, [positionId, open - quantity])
  }
}

const orderOf = ({ id, wallet, price_micro, seq, open_quantity }: BookRow) => ({
  id,
  wallet,
  price: Number(price_micro),
  seq: Number(seq),
  quantity: open_quantity,
})

/** The same limits as those of a purchase. */
function limitsOf(deps: OptionDeps, series: Series, wanted: Wanted) {
  const interestMicro = series.interestLimitMicro - (wanted.interest.get(pushKey(series)) ?? 0n)
  const room = interestMicro > 0n ? Number(interestMicro / series.sizeMicro) : 0
  const vault = vaultOffer(deps, { quantity: room }, series, wanted)
  return {
    room,
    roomOf: (wallet: string) => deps.settings.contractsPerWallet - (wanted.held.get(`${series.symbol} ${wallet}`) ?? 0),
    ...(vault ? { vault } : {}),
  }
}

type Matched = {
  series: Series
  buys: readonly BookRow[]
  sells: readonly BookRow[]
  matches: readonly Match[]
  debts: Debts
  vaultUsedMicro: Micro
}

/** Positions, fills and postings of one run, one position for each order that bought something. */
async function writeMatches(deps: OptionDeps, tx: Tx, matched: Matched): Promise<void> {
  const { series, buys, sells, matches } = matched
  if (matches.length === 0) return
  const nowMs = deps.clock.nowMs()
  const writers = new Map(sells.map(({ id, wallet }) => [id, wallet]))
  const drafts = buys.flatMap((buy): (ReservationDraft & { buy: BookRow })[] => {
    const mine = matches.filter(({ buyId }) => buyId === buy.id)
    if (mine.length === 0) return []
    const positionId = deps.ids.next('opt')
    return [
      {
        buy,
        positionId,
        capMicro: series.capMicro,
        fills: mine.map(({ sellId, quantity, price }) => ({
          offerId: sellId,
          writer: sellId === null ? deps.vaultWallet : (writers.get(sellId) as Address),
          quantity,
          price,
        })),
        premiumMicro: mine.reduce((sum, { quantity, price }) => sum + BigInt(quantity) * BigInt(price), 0n),
        request: {
          symbol: series.symbol,
          quantity: mine.reduce((sum, { quantity }) => sum + quantity, 0),
          holder: buy.wallet,
          // An order may buy several times, and a position has a payment of its own name.
          paymentId: `${buy.id}:${positionId}`,
        },
      },
    ]
  })
  const vaultMicro = vaultPart(series, drafts)
  await writeReservations(deps, tx, { drafts, vaultUsedMicro: matched.vaultUsedMicro + vaultMicro, nowMs })
  await tx.query(`update option_position set state = 'open', opened_at = $2 where id = any($1)`, [
    drafts.map(({ positionId }) => positionId),
    new Date(nowMs),
  ])
  for (const { buy, request } of drafts)
    await tx.query(
      `update option_bid set open_quantity = open_quantity - $2, state = case when open_quantity = $2 then 'closed' else state end where id = $1`,
      [buy.id, request.quantity],
    )
  await post(
    tx,
    drafts.map((draft) => ({
      reference: `option_match:${draft.positionId}`,
      kind: 'option_match',
      lines: matchLines(deps, matched, draft),
    })),
  )
  await writeEvents(
    tx,
    drafts.map(({ positionId, request, premiumMicro }) => ({
      symbol: series.symbol,
      kind: 'sold' as const,
      subject: positionId,
      quantity: request.quantity,
      priceMicro: premiumMicro,
    })),
    nowMs,
  )
}

const vaultPart = (series: Series, drafts: readonly Pick<ReservationDraft, 'fills'>[]): Micro =>
  drafts
    .flatMap(({ fills }) => fills)
    .filter(({ offerId }) => offerId === null)
    .reduce((sum, { quantity, price }) => sum + BigInt(quantity) * (series.capMicro - BigInt(price)), 0n)

/** The limit leaves the orders: the premium goes behind the series, what was saved back to the bidder. */
function matchLines(deps: OptionDeps, { series, sells, debts }: Matched, draft: ReservationDraft & { buy: BookRow }) {
  const { buy, request, premiumMicro, fills } = draft
  const collateral = optionAccounts.collateral(deps.network, series.symbol)
  const limitMicro = BigInt(request.quantity) * buy.price_micro
  const vaultMicro = vaultPart(series, [draft])
  let collateralMicro = -premiumMicro - vaultMicro
  const lines: LedgerLine[] = [
    { account: optionAccounts.orders(deps.network, series.symbol), amount: limitMicro },
    ...payoutLines(deps, debts, buy.wallet, limitMicro - premiumMicro),
  ]
  if (vaultMicro > 0n) lines.push({ account: accounts.operator(deps.network, 'usdc'), amount: vaultMicro })
  // A writer who gets more than it asked needs less collateral.
  for (const { offerId, writer, quantity, price } of fills) {
    const asked = sells.find(({ id }) => id === offerId)?.price_micro ?? BigInt(price)
    const freeMicro = BigInt(quantity) * (BigInt(price) - asked)
    if (freeMicro === 0n) continue
    collateralMicro += freeMicro
    lines.push(...payoutLines(deps, debts, writer as Address, freeMicro))
  }
  return [...lines, { account: collateral, amount: collateralMicro }]
}
