import { accounts, owedTo, trialBalance } from '@assay/till/ledger'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { beforeAll, expect, test } from 'vitest'
import { optionAccounts } from './accounts.ts'
import { activateOffers } from './activate-offers.ts'
import { bidFor, closeContracts } from './close-contracts.ts'
import { describeHoldings } from './describe-holdings.ts'
import { createExchange, type Exchange, listTestSeries, network, publishTicks, walletOf } from './exchange.fixture.ts'
import { partiesOf } from './market-parties.ts'
import { matchOrders } from './match-orders.ts'
import { withdrawSell } from './rest-sell.ts'
import { sellContracts } from './sell-contracts.ts'
import { settleSeries } from './settle-series.ts'

const db = await useTestDatabase()
let exchange: Exchange
const usd = (amount: number) => BigInt(amount) * 1_000_000n
const me = walletOf(77)
const stranger = walletOf(78)

beforeAll(async () => {
  exchange = createExchange(db.database)
  await db.database.query(`update option_vault set limit_micro = $1`, [usd(100_000)])
})

/** Two contracts of the vault at 80 USD, on an index that is now at `points`. */
async function held(points: number, more: { final?: boolean } = {}) {
  // A minute later, so that each has its own symbol.
  exchange.clock.advance(60_000)
  const symbol = await listTestSeries(exchange, { modelMicro: usd(80) })
  await publishTicks(exchange, '52', exchange.clock.nowMs(), BigInt(points) * 10_000n)
  const sale = await exchange.buy(me, symbol, 2, usd(160), more)
  const position = (sale.reservation as { position: string }).position
  return { symbol, position, sale }
}
const payable = () => owedTo(db.database, accounts.payable(network, me, 'option'))
const locked = (symbol: string) => owedTo(db.database, optionAccounts.collateral(network, symbol))

test('a part is sold back at exactly the bid, once, and the rest is settled as if it had been bought alone', async () => {
  const { symbol, position, sale } = await held(70)
  const used = async () =>
    (await db.database.query<{ used_micro: bigint }>('select used_micro from option_vault')).rows[0]?.used_micro
  expect(await used()).toBe(usd(1_840))
  const bid = await bidFor(exchange.deps, position, 1)
  expect(bid.totalMicro > 0n && bid.totalMicro < usd(80)).toBe(true)
  const closing = { bidId: 'one', positionId: position, holder: me, quantity: 1, totalMicro: bid.totalMicro }
  await expect(closeContracts(exchange.deps, { ...closing, holder: stranger })).rejects.toMatchObject({
    code: 'position_unknown',
  })
  const before = await payable()
  const both = await Promise.allSettled([
    closeContracts(exchange.deps, closing),
    closeContracts(exchange.deps, closing),
  ])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect((await payable()) - before).toBe(bid.totalMicro)
  // The difference is the vault's when the series is settled, and the holder's when it is void.
  expect(await locked(symbol)).toBe(usd(1_000) + usd(80) - bid.totalMicro)
  expect(await used()).toBe(usd(920))
  // A refund of the whole purchase would pay for what was sold once more.
  await expect(exchange.revoke(sale)).rejects.toThrow('was sold')
  const [shown] = (await describeHoldings(exchange.deps, me)).positions
  expect(shown).toMatchObject({ quantity: 1, closed_quantity: 1, closable_quantity: 1, state: 'open' })
  expect(shown?.closed_micro).toBe(bid.totalMicro.toString())
  expect(BigInt(shown?.profit_micro ?? 0)).toBe(BigInt(shown?.value_micro ?? 0) + bid.totalMicro - usd(160))

  const expiresAtMs = exchange.clock.nowMs() + 600_000
  exchange.clock.set(expiresAtMs)
  await publishTicks(exchange, '52', expiresAtMs, 1_100_000n)
  const paid = await payable()
  await settleSeries(exchange.deps)
  expect((await payable()) - paid).toBe(usd(100))
  expect(await locked(symbol)).toBe(0n)
  const [ended] = (await describeHoldings(exchange.deps, me)).positions
  expect(BigInt(ended?.profit_micro ?? 0)).toBe(usd(100) + bid.totalMicro - usd(160))
})

test('the vault pays no more than was paid, however high the index was pushed, and nothing for an index of an hour', async () => {
  const { position } = await held(180)
  expect((await bidFor(exchange.deps, position, 2)).totalMicro).toBe(usd(160))
  const calm = await held(70)
  const fair = (await bidFor(exchange.deps, calm.position, 1)).totalMicro
  await db.owner.query(
    `update option_tick set value_e4 = 1800000 where at = (select max(at) from option_tick where cluster = '52')`,
  )
  expect((await bidFor(exchange.deps, calm.position, 1)).totalMicro <= fair).toBe(true)
})

test('all of it is sold back, and then nothing is left to sell, to settle or to lose', async () => {
  const { symbol, position } = await held(70)
  const { totalMicro } = await bidFor(exchange.deps, position, undefined)
  const done = await closeContracts(exchange.deps, {
    bidId: 'all',
    positionId: position,
    holder: me,
    quantity: 2,
    totalMicro,
  })
  expect(done).toMatchObject({ left: 0, paidMicro: totalMicro, laterMicro: 0n })
  expect(await locked(symbol)).toBe(usd(160) - totalMicro)
  await expect(bidFor(exchange.deps, position, 1)).rejects.toMatchObject({ code: 'position_unknown' })
  const [shown] = (await describeHoldings(exchange.deps, me)).positions
  expect(shown).toMatchObject({ state: 'closed', quantity: 0, profit_micro: (totalMicro - usd(160)).toString() })
})

/** An order of the book; its money is final. */
async function order(wallet: typeof me, symbol: string, limit: number, quantity: number) {
  await exchange.order(wallet, { symbol, limit_usd: String(limit), quantity }, usd(limit) * BigInt(quantity))
  await activateOffers(exchange.deps)
}
const positionOf = async (wallet: typeof me, symbol: string) => {
  const { positions } = await describeHoldings(exchange.deps, wallet)
  return positions.find((one) => one.symbol === symbol && one.state === 'open')?.position_id ?? ''
}
const sell = async (wallet: typeof me, symbol: string, limit: number, quantity?: number) =>
  sellContracts(exchange.deps, {
    positionId: await positionOf(wallet, symbol),
    holder: wallet,
    limitMicro: usd(limit),
    quantity,
  })

/** A new series, three contracts of it written, and bought by the first of those who did not write them. */
async function boughtSeries(outcome: 'fixed' | 'void', walletsFrom: number) {
  exchange.clock.advance(60_000)
  const symbol = await listTestSeries(exchange, { strike: outcome === 'fixed' ? 105 : 110 })
  const expiresAtMs = exchange.clock.nowMs() + 600_000
  type Parties = [writer: typeof me, first: typeof me, second: typeof me, third: typeof me]
  const parties = [1, 2, 3, 4].map((number) => walletOf(walletsFrom + number)) as Parties
  const payables = () =>
    Promise.all(parties.map((one) => owedTo(db.database, accounts.payable(network, one, 'option'))))
  const before = await payables()
  await exchange.write(parties[0], { symbol, premium_usd: '80', quantity: 3 }, usd(920) * 3n)
  await activateOffers(exchange.deps)
  await exchange.buy(parties[1], symbol, 3, usd(240))
  return { symbol, expiresAtMs, parties, payables, before }
}

test.each(['fixed', 'void'] as const)(
  'contracts are sold on and bought back by their writer: when the series is %s everybody has what was agreed',
  async (outcome) => {
    const { symbol, expiresAtMs, parties, payables, before } = await boughtSeries(outcome, 90)
    const [writer, first, second, third] = parties
    await order(second, symbol, 95, 2)
    await order(third, symbol, 51, 1)
    // Partly: a third contract finds nobody who pays as much, and nobody sells to itself.
    expect(await sell(first, symbol, 60)).toMatchObject({
      quantity: 2,
      left: 1,
      paidMicro: usd(160),
      laterMicro: usd(30),
    })
    await expect(sell(first, symbol, 60)).rejects.toMatchObject({ code: 'options_no_bid' })
    await order(third, symbol, 70, 2)
    expect(await sell(second, symbol, 70)).toMatchObject({ quantity: 2, left: 0, paidMicro: usd(140), laterMicro: 0n })
    await order(writer, symbol, 100, 1)
    expect(await sell(third, symbol, 100, 2)).toMatchObject({
      quantity: 1,
      left: 1,
      paidMicro: usd(70),
      laterMicro: usd(30),
    })
    const { rows } = await db.database.query('select sold from option_series where symbol = $1', [symbol])
    expect(rows).toEqual([{ sold: 2 }])

    if (outcome === 'fixed') await publishTicks(exchange, '52', expiresAtMs, 1_150_000n)
    exchange.clock.set(expiresAtMs + 3 * exchange.deps.settings.windowMs + exchange.deps.settings.stallMs)
    await settleSeries(exchange.deps)
    const paidIn = [920 * 3 + 100, 240, 190, 51 + 140].map(usd)
    const after = await payables()
    const profit = after.map((micro, at) => (micro - (before[at] ?? 0n) - (paidIn[at] ?? 0n)) / 1_000_000n)
    // A contract pays ten points of ten USD; three were written, one was bought back.
    const settled = [240 - 100 - 200, 190 + 100 - 240, 140 - 190, 100 + 100 - 140].map(BigInt)
    expect(profit).toEqual(outcome === 'fixed' ? settled : [0n, 0n, 0n, 0n])
    expect([await locked(symbol), await owedTo(db.database, optionAccounts.orders(network, symbol))]).toEqual([0n, 0n])
  },
)

const rest = async (wallet: typeof me, symbol: string, limit: number, quantity: number) =>
  sellContracts(exchange.deps, {
    positionId: await positionOf(wallet, symbol),
    holder: wallet,
    limitMicro: usd(limit),
    quantity,
    rest: true,
  })

test.each(['fixed', 'void'] as const)(
  'an order to sell waits in the book until an order to buy takes it: when the series is %s everybody has what was agreed',
  async (outcome) => {
    const { symbol, expiresAtMs, parties, payables, before } = await boughtSeries(outcome, 80)
    const [writer, first, second, third] = parties
    await order(second, symbol, 60, 1)
    // Nobody pays 90 yet: both wait, and the position is the holder's until they are bought.
    expect(await rest(first, symbol, 90, 2)).toMatchObject({ quantity: 0, left: 3, waiting: 2, paidMicro: 0n })
    const [shown] = (await describeHoldings(exchange.deps, first)).positions
    expect(shown).toMatchObject({ quantity: 3, sell: { limit_micro: '90000000', quantity: 2 } })
    await matchOrders(exchange.deps)
    expect((await describeHoldings(exchange.deps, first)).positions[0]?.quantity).toBe(3)
    // The order to sell was there first: its limit is the price, and the buyer gets the rest of its own limit back.
    await order(second, symbol, 100, 1)
    const paid = await payables()
    await matchOrders(exchange.deps)
    const gained = (await payables()).map((micro, at) => (micro - (paid[at] ?? 0n)) / 1_000_000n)
    expect(gained).toEqual([0n, 80n, 10n, 0n])
    expect((await describeHoldings(exchange.deps, second)).positions[0]).toMatchObject({
      quantity: 1,
      premium_micro: '90000000',
    })
    expect((await describeHoldings(exchange.deps, first)).positions[0]).toMatchObject({
      quantity: 2,
      sell: { quantity: 1 },
      closed_micro: '90000000',
    })
    // The writer buys one back, and what is withdrawn is no longer sold.
    await order(writer, symbol, 95, 1)
    await matchOrders(exchange.deps)
    const { rows } = await db.database.query('select sold from option_series where symbol = $1', [symbol])
    expect(rows).toEqual([{ sold: 2 }])
    expect(await rest(first, symbol, 70, 1)).toMatchObject({ quantity: 0, waiting: 1 })
    const offerId = await positionOf(first, symbol)
    await expect(withdrawSell(exchange.deps, { offerId, writer: third })).rejects.toMatchObject({
      code: 'offer_unknown',
    })
    expect(await withdrawSell(exchange.deps, { offerId, writer: first })).toMatchObject({ quantity: 1, left: 0 })
    await order(third, symbol, 75, 1)
    await matchOrders(exchange.deps)
    expect((await describeHoldings(exchange.deps, first)).positions[0]).toMatchObject({ quantity: 1, sell: null })

    if (outcome === 'fixed') await publishTicks(exchange, '52', expiresAtMs, 1_150_000n)
    exchange.clock.set(expiresAtMs + 3 * exchange.deps.settings.windowMs + exchange.deps.settings.stallMs)
    await settleSeries(exchange.deps)
    const paidIn = [920 * 3 + 95, 240, 160, 75].map(usd)
    const after = await payables()
    const profit = after.map((micro, at) => (micro - (before[at] ?? 0n) - (paidIn[at] ?? 0n)) / 1_000_000n)
    // A contract pays ten points of ten USD; three were written, one was bought back for 90.
    const settled = [240 - 90 - 200, 180 + 100 - 240, 100 - 90, 0].map(BigInt)
    expect(profit).toEqual(outcome === 'fixed' ? settled : [0n, 0n, 0n, 0n])
    expect([await locked(symbol), await owedTo(db.database, optionAccounts.orders(network, symbol))]).toEqual([0n, 0n])
  },
)

test('profit at expiry is what the contracts would pay at the index of now, less what was paid', async () => {
  const { symbol } = await held(70)
  const [before] = (await describeHoldings(exchange.deps, me)).positions
  expect(before).toMatchObject({ symbol, expiry_profit_micro: (-usd(160)).toString() })
  await publishTicks(exchange, '52', exchange.clock.nowMs() + 60_000, 1_120_000n)
  const [now] = (await describeHoldings(exchange.deps, me)).positions
  // Twelve points of ten USD above a strike of 100, two contracts.
  expect(now?.expiry_profit_micro).toBe((usd(240) - usd(160)).toString())
})

test('a sale to an own wallet at a higher price does not raise what the vault pays', async () => {
  const { symbol } = await held(180)
  await order(stranger, symbol, 120, 2)
  expect(await sell(me, symbol, 120)).toMatchObject({ quantity: 2, paidMicro: usd(160), laterMicro: usd(80) })
  const washTraded = await positionOf(stranger, symbol)
  const { totalMicro } = await bidFor(exchange.deps, washTraded, 2)
  expect(totalMicro).toBe(usd(160))
  const closing = { bidId: 'wash_traded', positionId: washTraded, holder: stranger, quantity: 2, totalMicro }
  expect(await closeContracts(exchange.deps, closing)).toMatchObject({ left: 0, paidMicro: usd(160) })
  expect(await locked(symbol)).toBe(usd(80))
})

test('money that is not final, contracts of other writers and a closed series are not bought back', async () => {
  const fresh = await held(70, { final: false })
  await expect(bidFor(exchange.deps, fresh.position, 1)).rejects.toMatchObject({ code: 'money_not_final' })
  await db.database.query(`update payment set final = true`)
  await expect(bidFor(exchange.deps, fresh.position, 3)).rejects.toMatchObject({
    code: 'options_no_bid',
    details: { extra: { available: 2 } },
  })
  exchange.clock.advance(590_000)
  await expect(bidFor(exchange.deps, fresh.position, 1)).rejects.toMatchObject({ code: 'series_closed' })
})

test('holders and writers are parties of the market while it lasts', async () => {
  const now = exchange.clock.nowMs()
  expect(await partiesOf(db.database, { startsAtMs: now - 1_000, endsAtMs: now })).toEqual([me])
  expect(await partiesOf(db.database, { startsAtMs: 0, endsAtMs: 1_000 })).toEqual([])
})

test('the books balance after all of it', async () => {
  const { sumByUnit } = await trialBalance(db.database)
  for (const sum of Object.values(sumByUnit)) expect(sum).toBe(0n)
})
