import { accounts, owedTo, post, trialBalance } from '@assay/till/ledger'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { beforeAll, expect, test } from 'vitest'
import { optionAccounts } from './accounts.ts'
import { activateOffers } from './activate-offers.ts'
import { readOrderBook } from './describe-market.ts'
import { describeVault } from './describe-vault.ts'
import { createExchange, type Exchange, listTestSeries, network, publishTicks, walletOf } from './exchange.fixture.ts'
import { followTrades } from './follow-trades.ts'
import { listDays, listTrades, newestTrade } from './list-trades.ts'
import { matchOrders } from './match-orders.ts'
import { settleSeries } from './settle-series.ts'
import { withdraw } from './withdraw.ts'

const db = await useTestDatabase()
let exchange: Exchange
const usd = (amount: number) => BigInt(amount) * 1_000_000n
const cap = usd(1_000)
const [bidder, writer] = [walletOf(81), walletOf(82)]

beforeAll(async () => {
  exchange = createExchange(db.database)
})

const payable = (wallet: typeof bidder) => owedTo(db.database, accounts.payable(network, wallet, 'option'))
const locked = (symbol: string) => owedTo(db.database, optionAccounts.collateral(network, symbol))
const waiting = (symbol: string) => owedTo(db.database, optionAccounts.orders(network, symbol))
const listed = (given: Parameters<typeof listTestSeries>[1] = {}) => {
  // A minute later, so that each has its own symbol.
  exchange.clock.advance(60_000)
  return listTestSeries(exchange, given)
}
type More = { immediate?: boolean; final?: boolean; wallet?: typeof bidder }
async function bid(symbol: string, limit: number, quantity = 1, more: More = {}) {
  const body = { symbol, limit_usd: String(limit), quantity, immediate: more.immediate ?? false }
  const sale = await exchange.order(more.wallet ?? bidder, body, usd(limit) * BigInt(quantity), more)
  await activateOffers(exchange.deps)
  return { sale, id: (sale.reservation as { order: string }).order }
}
async function offer(symbol: string, premium: number, quantity = 1, immediate = false) {
  const body = { symbol, premium_usd: String(premium), quantity, immediate }
  await exchange.write(writer, body, (cap - usd(premium)) * BigInt(quantity))
  await activateOffers(exchange.deps)
}

test('an order waits with its whole limit, and buys at its own price from a writer who comes later and asks less', async () => {
  const symbol = await listed()
  await bid(symbol, 90, 2)
  await matchOrders(exchange.deps)
  expect(await waiting(symbol)).toBe(usd(180))
  const [mine, theirs] = [await payable(bidder), await payable(writer)]
  await offer(symbol, 80)
  expect(await matchOrders(exchange.deps)).toBe(1)
  expect(await waiting(symbol)).toBe(usd(90))
  expect(await locked(symbol)).toBe(cap)
  // Ten more than it asked, and so much less collateral.
  expect((await payable(writer)) - theirs).toBe(usd(10))
  expect(await payable(bidder)).toBe(mine)

  const expiresAtMs = exchange.clock.nowMs() + 600_000
  exchange.clock.set(expiresAtMs)
  await publishTicks(exchange, '52', expiresAtMs, 1_100_000n)
  await settleSeries(exchange.deps)
  expect((await payable(bidder)) - mine).toBe(usd(100) + usd(90))
  expect((await payable(writer)) - theirs).toBe(cap - usd(100) + usd(10))
  expect([await locked(symbol), await waiting(symbol)]).toEqual([0n, 0n])
})

test('an order that finds offers buys at theirs, and what it saved goes back; also of the vault, within its limit', async () => {
  const symbol = await listed({ modelMicro: usd(85) })
  await db.database.query(`update option_vault set limit_micro = $1`, [usd(1_000)])
  await offer(symbol, 80)
  const before = await payable(bidder)
  await bid(symbol, 90, 3)
  expect(await matchOrders(exchange.deps)).toBe(2)
  expect((await payable(bidder)) - before).toBe(usd(10) + usd(5))
  expect(await waiting(symbol)).toBe(usd(90))
  expect(await locked(symbol)).toBe(2n * cap)
  const { rows } = await db.database.query<{ used_micro: bigint }>('select used_micro from option_vault')
  expect(rows[0]?.used_micro).toBe(cap - usd(85))
  await db.database.query(`update option_vault set limit_micro = 0`)
})

test('what was to be immediate and finds nobody goes back at once, of both sides', async () => {
  const symbol = await listed()
  const [mine, theirs] = [await payable(bidder), await payable(writer)]
  await bid(symbol, 70, 2, { immediate: true })
  await offer(symbol, 90, 1, true)
  expect(await matchOrders(exchange.deps)).toBe(0)
  expect((await payable(bidder)) - mine).toBe(usd(140))
  expect((await payable(writer)) - theirs).toBe(cap - usd(90))
  expect([await locked(symbol), await waiting(symbol)]).toEqual([0n, 0n])
})

test('an order can be withdrawn in parts by its bidder, and by nobody else', async () => {
  const symbol = await listed()
  const { id } = await bid(symbol, 70, 2)
  await expect(withdraw(exchange.deps, { offerId: id, writer })).rejects.toMatchObject({ code: 'offer_unknown' })
  const done = await withdraw(exchange.deps, { offerId: id, writer: bidder, quantity: 1 })
  expect(done).toMatchObject({ left: 1, returnedMicro: usd(70) })
  await expect(withdraw(exchange.deps, { offerId: id, writer: bidder, quantity: 2 })).rejects.toMatchObject({
    code: 'collateral_locked',
  })
  expect(await waiting(symbol)).toBe(usd(70))
})

test('money that is not final buys nothing, and a reorg finds the order whole', async () => {
  const symbol = await listed()
  await offer(symbol, 80)
  const { sale, id } = await bid(symbol, 90, 1, { final: false })
  expect(await matchOrders(exchange.deps)).toBe(0)
  await expect(withdraw(exchange.deps, { offerId: id, writer: bidder })).rejects.toMatchObject({
    code: 'money_not_final',
  })
  await exchange.revoke(sale)
  await db.database.query(`update payment set final = true where id = $1`, [sale.paymentId])
  await activateOffers(exchange.deps)
  expect(await matchOrders(exchange.deps)).toBe(0)
  expect(await waiting(symbol)).toBe(0n)
})

test('the bound of open interest holds for orders too, and the end of trading returns them', async () => {
  const symbol = await listed({ interestMicro: 10_000_000n })
  await offer(symbol, 80, 3)
  await bid(symbol, 90, 3)
  expect(await matchOrders(exchange.deps)).toBe(1)
  expect(await locked(symbol)).toBe(cap + 2n * (cap - usd(80)))
  expect(await waiting(symbol)).toBe(usd(180))
  const before = await payable(bidder)
  exchange.clock.advance(590_000)
  await matchOrders(exchange.deps)
  expect((await payable(bidder)) - before >= usd(180)).toBe(true)
  expect(await waiting(symbol)).toBe(0n)
})

test('orders of a wallet that may hold no more keep nobody else from buying', async () => {
  const symbol = await listed()
  const hog = walletOf(83)
  const deps = { ...exchange.deps, settings: { ...exchange.deps.settings, contractsPerWallet: 1 } }
  await bid(symbol, 120, 1, { wallet: hog })
  await offer(symbol, 80)
  expect(await matchOrders(deps)).toBe(1)
  await db.database.query(
    `insert into option_bid (id, symbol, bidder, payment_id, price_micro, quantity, open_quantity, immediate, state, seq, created_at)
     select 'ord_hog' || n, $1, $2, 'hog' || n, 120000000, 1, 1, false, 'live', n, now() from generate_series(1, 250) n`,
    [symbol, hog],
  )
  await bid(symbol, 90)
  await offer(symbol, 80)
  expect(await matchOrders(deps)).toBe(1)
  await db.database.query(`update option_bid set open_quantity = 0, state = 'closed' where bidder = $1`, [hog])
})

test('nothing is matched for a wallet that owes', async () => {
  const symbol = await listed()
  const debtor = walletOf(84)
  await bid(symbol, 90, 1, { wallet: debtor })
  await offer(symbol, 80)
  const debt = (amount: bigint) =>
    post(db.database, [
      {
        reference: `debt:${amount}`,
        kind: 'reorg',
        lines: [
          { account: accounts.receivable(network, debtor, 'credit'), amount },
          { account: accounts.reorgLoss(network), amount: -amount },
        ],
      },
    ])
  await debt(1n)
  expect(await matchOrders(exchange.deps)).toBe(0)
  await debt(-1n)
  expect(await matchOrders(exchange.deps)).toBe(1)
})

test('offers and orders from before a restore are not traded: their owners may have withdrawn them since', async () => {
  const symbol = await listed()
  const { id } = await bid(symbol, 70)
  await offer(symbol, 80)
  await db.owner.query(
    `insert into restore_gap (network, reason, until_block, lapses_at, noticed_at, reconciled_at) values ($1, 'test', 1, now(), $2, now())`,
    [network, new Date(exchange.clock.nowMs() + 1)],
  )
  exchange.clock.advance(1_000)
  await expect(exchange.buy(walletOf(85), symbol, 1, usd(80))).rejects.toMatchObject({ code: 'options_sold_out' })
  exchange.board.changed()
  await expect(exchange.board.ask(symbol, 1)).rejects.toMatchObject({
    code: 'options_sold_out',
    details: {
      detail: expect.stringMatching(/^0 of 1 contracts are offered\. The custody wallet/),
      extra: { symbol, available: 0 },
    },
  })
  await offer(symbol, 60)
  await bid(symbol, 90)
  expect(await matchOrders(exchange.deps)).toBe(1)
  const [trade] = (await listTrades(db.database, { symbol, limit: 5 })).data
  expect(trade).toMatchObject({ quantity: 1, total_micro: String(usd(60)) })
  expect(await withdraw(exchange.deps, { offerId: id, writer: bidder })).toMatchObject({ left: 0 })
  await db.owner.query(`delete from restore_gap`)
})

test('immediate orders are all checked before any goes back, also when there are hundreds', async () => {
  const symbol = await listed()
  await offer(symbol, 80, 100)
  await offer(symbol, 80, 100)
  await offer(symbol, 80, 100)
  await db.database.query(
    `insert into option_bid (id, symbol, bidder, payment_id, price_micro, quantity, open_quantity, immediate, state, seq, created_at)
     select 'ord_many' || n, $1, '0x' || lpad(to_hex(n), 40, '0'), 'many' || n, 90000000, 1, 1, true, 'live', n, $2 from generate_series(1000, 1249) n`,
    [symbol, new Date(exchange.clock.nowMs())],
  )
  await post(db.database, [
    {
      reference: 'many',
      kind: 'opening',
      lines: [
        { account: accounts.onchain(network, 'custody'), amount: 250n * usd(90) },
        { account: optionAccounts.orders(network, symbol), amount: -250n * usd(90) },
      ],
    },
  ])
  expect(await matchOrders(exchange.deps)).toBe(250)
  expect(await waiting(symbol)).toBe(0n)
})

test('a series that cannot be matched holds up no other', async () => {
  const [broken, whole] = [await listed(), await listed({ cluster: '53' })]
  for (const symbol of [broken, whole]) {
    await offer(symbol, 80)
    await bid(symbol, 90)
  }
  expect(broken < whole).toBe(true)
  const ids = { ...exchange.deps.ids, next: exchange.deps.ids.next }
  let first = true
  ids.next = (prefix) => {
    if (first) {
      first = false
      throw new Error('no')
    }
    return exchange.deps.ids.next(prefix)
  }
  expect(await matchOrders({ ...exchange.deps, ids })).toBe(1)
  expect([await waiting(broken), await waiting(whole)]).toEqual([usd(90), 0n])
  await matchOrders(exchange.deps)
})

test('trades and days say what was bought, what is open and what it settled at', async () => {
  const symbol = await listed()
  await offer(symbol, 80, 2)
  await bid(symbol, 80, 2)
  await matchOrders(exchange.deps)
  const trades = await listTrades(db.database, { symbol, limit: 5 })
  expect(trades).toMatchObject({ data: [{ kind: 'sale', quantity: 2, total_micro: '160000000' }], next_cursor: null })
  const live = followTrades(
    { ...exchange.deps, apiUrl: 'https://node.test', stopped: new AbortController().signal },
    { symbol, after: 0n },
  )
  expect((await live.next()).value).toContain('retry:')
  expect((await live.next()).value).toContain(`id: ${trades.data[0]?.trade_id}\nevent: trade\n`)
  const later = live.next()
  await offer(symbol, 80)
  await bid(symbol, 85)
  await matchOrders(exchange.deps)
  expect((await later).value).toContain('"quantity":1,"total_micro":"80000000"')
  await live.return()
  const day = new Date(exchange.clock.nowMs()).toISOString().slice(0, 10)
  const row = { day, contracts: 3, premium_micro: '240000000', closed: 0 }
  expect(await listDays(db.database, symbol)).toEqual({
    symbol,
    days: [{ ...row, open_interest: 3 }],
    settlement: null,
  })
  const expiresAtMs = exchange.clock.nowMs() + 600_000
  exchange.clock.set(expiresAtMs)
  await publishTicks(exchange, '52', expiresAtMs, 1_100_000n)
  await settleSeries(exchange.deps)
  const { days, settlement } = await listDays(db.database, symbol)
  expect(days).toEqual([{ ...row, open_interest: 0 }])
  expect(settlement).toMatchObject({ outcome: 'fixed', value: '110.0000' })
})

test('who follows a series gets its book at the start and whenever it has changed', async () => {
  const symbol = await listed()
  await offer(symbol, 80, 2)
  exchange.board.changed()
  const deps = { ...exchange.deps, board: exchange.board }
  await expect.poll(async () => (await readOrderBook(deps, symbol))?.book.length, { timeout: 30_000 }).toBe(1)
  const live = followTrades(
    { ...deps, apiUrl: 'https://node.test', stopped: new AbortController().signal },
    { symbol, after: await newestTrade(db.database), readOrderBook: () => readOrderBook(deps, symbol) },
  )
  const orderBookIn = (text: unknown) => {
    const [, json = ''] = /^event: book\ndata: (.*)$/m.exec(String(text)) ?? []
    return (JSON.parse(json) as { subject: string; data: { book: object[]; bids: object[] } }).data
  }
  await live.next()
  const level = { premium_micro: '80000000', quantity: 2, offers: 1 }
  expect(orderBookIn((await live.next()).value)).toMatchObject({ symbol, book: [level], bids: [], resales: [] })
  const changed = live.next()
  await bid(symbol, 70)
  expect(orderBookIn((await changed).value)).toMatchObject({
    book: [level],
    bids: [{ premium_micro: '70000000', quantity: 1, orders: 1 }],
  })
  await live.return()
  expect(await readOrderBook(deps, 'TC-1-20200101-100-C')).toBeUndefined()
})

test('the vault shows quotes, inventory, profit and limits, and says why nothing is sold without funds', async () => {
  const vault = () => describeVault({ ...exchange.deps, board: exchange.board })
  const fresh = async () => {
    exchange.board.changed()
    exchange.clock.advance(100)
    return vault()
  }
  const symbol = await listed({ modelMicro: usd(85) })
  expect(await fresh()).toMatchObject({ state: 'not_funded', quotes: [] })
  await expect(exchange.board.ask(symbol, 1)).rejects.toMatchObject({ details: { extra: { vault: 'not_funded' } } })
  await db.database.query(`update option_vault set limit_micro = 5000000000`)
  expect(await fresh()).toMatchObject({
    state: 'quoting',
    quotes: [{ symbol, ask_micro: '85000000', bid_micro: '80750000' }],
  })
  const before = BigInt((await fresh()).realised_micro)
  await exchange.buy(bidder, symbol, 1, usd(85))
  expect((await fresh()).inventory).toContainEqual({
    symbol,
    contracts: 1,
    premium_micro: '85000000',
    locked_micro: '915000000',
    profit_micro: null,
  })
  const expiresAtMs = exchange.clock.nowMs() + 600_000
  exchange.clock.set(expiresAtMs)
  await publishTicks(exchange, '52', expiresAtMs, 1_100_000n)
  await settleSeries(exchange.deps)
  expect(BigInt((await fresh()).realised_micro) - before).toBe(usd(85) - usd(100))
})

test('the books balance after all of it', async () => {
  const { sumByUnit } = await trialBalance(db.database)
  for (const sum of Object.values(sumByUnit)) expect(sum).toBe(0n)
})
