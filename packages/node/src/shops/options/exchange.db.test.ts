import { SaleImpossible } from '@assay/till/internal'
import { accounts, balanceOf, lockBalances, owedTo, post, trialBalance } from '@assay/till/ledger'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { beforeEach, describe, expect, test } from 'vitest'
import { creatorAccounts } from '../attestations/accounts.ts'
import { optionAccounts } from './accounts.ts'
import { activateOffers } from './activate-offers.ts'
import { listMarket } from './describe-market.ts'
import { createExchange, type Exchange, listTestSeries, network, publishTicks, walletOf } from './exchange.fixture.ts'
import { followIndex } from './follow-index.ts'
import { listSeries } from './list-series.ts'
import { priceSeries } from './price-series.ts'
import { createIndexReader } from './read-index.ts'
import { refundLost, refusePartRefunds } from './refund-lost.ts'
import { releaseLapsed } from './return-contracts.ts'
import { findSeries } from './series-store.ts'
import { settleSeries } from './settle-series.ts'
import { withdraw } from './withdraw.ts'

const db = await useTestDatabase()
let exchange: Exchange
let expiresAtMs: number
let minute = 0

beforeEach(() => {
  exchange = createExchange(db.database)
  // Each test has its own expiry, and so its own symbols.
  minute += 1
  expiresAtMs = exchange.clock.nowMs() + 600_000 + minute * 60_000
})

const usd = (dollars: number) => BigInt(Math.round(dollars * 1e6))
// A contract of ten dollars a point pays at most a thousand dollars.
const cap = usd(1_000)
/** Of a contract, for one point of the index. */
const size = 10_000_000n
const writer = walletOf(0xa1)
const holder = walletOf(0xb1)
const locked = (symbol: string) => owedTo(db.database, optionAccounts.collateral(network, symbol))
const payable = (wallet: `0x${string}`) => owedTo(db.database, accounts.payable(network, wallet, 'option'))
const nextWallet = () => walletOf(0xc000 + minute)

async function listed(given: Parameters<typeof listTestSeries>[1] = {}) {
  return listTestSeries(exchange, { expiresAtMs, ...given })
}

async function offered(symbol: string, premium: string, quantity = 1, wallet = writer) {
  const amount = (cap - usd(Number(premium))) * BigInt(quantity)
  const sale = await exchange.write(wallet, { symbol, premium_usd: premium, quantity }, amount)
  await activateOffers(exchange.deps)
  return (sale.reservation as { order: string }).order
}

/** As the till leaves it when a reorg took credit that was used. */
async function owes(wallet: `0x${string}`, micro: bigint) {
  const lines = [
    { account: accounts.receivable(network, wallet, 'credit'), amount: micro },
    { account: creatorAccounts.distributor(network), amount: -micro },
  ]
  await db.database.transaction((tx) => post(tx, [{ reference: `reorg:${wallet}`, kind: 'reorg', lines }]))
}

/** Until a statement waits for a lock. */
async function waits(): Promise<void> {
  const look = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await expect.poll(async () => (await db.owner.query(look)).rowCount, { timeout: 20_000 }).toBeGreaterThan(0)
}

async function settledAt(symbol: string, points: number, cluster = '52') {
  await publishTicks(exchange, cluster, expiresAtMs, BigInt(Math.round(points * 10_000)))
  exchange.clock.set(expiresAtMs)
  await settleSeries(exchange.deps)
  return findSeries(db.database, symbol)
}

/** Counts what is asked of the database. */
function counted() {
  const asked: PropertyKey[] = []
  const database = new Proxy(db.database, {
    get: (real, name, receiver) => {
      asked.push(name)
      return Reflect.get(real, name, receiver)
    },
  })
  return {
    deps: { ...exchange.deps, database },
    count: (name: 'query' | 'transaction') => asked.filter((one) => one === name).length,
  }
}

describe('a life of an option', () => {
  test('premium and collateral lie together until the expiry, then everybody gets a part and nothing is left', async () => {
    const me = nextWallet()
    const before = await payable(writer)
    const symbol = await listed()
    await offered(symbol, '80')
    expect(await locked(symbol)).toBe(cap - usd(80))
    await exchange.buy(me, symbol, 1, usd(80))
    expect(await locked(symbol)).toBe(cap)
    const ended = await settledAt(symbol, 112.5)
    expect(ended?.state).toBe('ended')
    expect(await payable(me)).toBe(usd(125))
    expect((await payable(writer)) - before).toBe(cap - usd(125))
    expect(await locked(symbol)).toBe(0n)
  })

  test('out of the money the writer gets all of it, with the premium', async () => {
    const before = await payable(writer)
    const symbol = await listed({ kind: 'P', strike: 100 })
    await offered(symbol, '60')
    await exchange.buy(holder, symbol, 1, usd(60))
    await settledAt(symbol, 100)
    expect((await payable(writer)) - before).toBe(cap)
  })

  test('far in the money the payoff stops at the cap', async () => {
    const me = nextWallet()
    const symbol = await listed()
    await offered(symbol, '60')
    await exchange.buy(me, symbol, 1, usd(60))
    await settledAt(symbol, 900)
    expect(await payable(me)).toBe(cap)
  })

  test('a void series returns premium and collateral and says why', async () => {
    const me = nextWallet()
    const before = await payable(writer)
    const symbol = await listed()
    await offered(symbol, '80', 2)
    await exchange.buy(me, symbol, 1, usd(80))
    // Three windows without a crowd, then nothing can be said any more.
    exchange.clock.set(expiresAtMs + 3 * exchange.deps.settings.windowMs + exchange.deps.settings.stallMs)
    await settleSeries(exchange.deps)
    const { rows } = await db.database.query<{ outcome: string; reason: string }>(
      `select outcome, reason from option_settlement where symbol = $1`,
      [symbol],
    )
    expect(rows[0]?.outcome).toBe('void')
    expect(rows[0]?.reason).toContain('agents')
    expect(await payable(me)).toBe(usd(80))
    expect((await payable(writer)) - before).toBe(2n * (cap - usd(80)))
    expect(await locked(symbol)).toBe(0n)
  })

  test('unsold contracts return to their writer at the end', async () => {
    const before = await payable(writer)
    const symbol = await listed()
    await offered(symbol, '80', 3)
    await settledAt(symbol, 100)
    expect((await payable(writer)) - before).toBe(3n * (cap - usd(80)))
  })
})

describe('the last contract', () => {
  test('of many buyers at once exactly one gets it, and nobody else is charged', async () => {
    const symbol = await listed()
    await offered(symbol, '80')
    const tries = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => exchange.reserve(walletOf(0xd000 + n), symbol, 1, usd(80))),
    )
    const won = tries.filter((one) => one.status === 'fulfilled')
    const lost = tries.filter((one) => one.status === 'rejected')
    expect(won).toHaveLength(1)
    for (const one of lost) expect(one.reason).toMatchObject({ code: 'options_sold_out' })
  })

  test('two processes cannot sell it twice', async () => {
    const other = createExchange(db.database)
    const symbol = await listed()
    await offered(symbol, '80')
    const tries = await Promise.allSettled([
      exchange.reserve(walletOf(0xd101), symbol, 1, usd(80)),
      other.reserve(walletOf(0xd102), symbol, 1, usd(80)),
    ])
    expect(tries.filter((one) => one.status === 'fulfilled')).toHaveLength(1)
  })

  test('a process sees what another one did to the book', async () => {
    const other = createExchange(db.database)
    const symbol = await listed()
    await offered(symbol, '80', 2)
    await exchange.reserve(walletOf(0xd201), symbol, 1, usd(80))
    await other.reserve(walletOf(0xd202), symbol, 1, usd(80))
    await expect(exchange.reserve(walletOf(0xd203), symbol, 1, usd(80))).rejects.toMatchObject({
      code: 'options_sold_out',
    })
  })

  test('the same payment asking again gets the same contracts', async () => {
    const symbol = await listed()
    await offered(symbol, '80', 2)
    const first = await exchange.reserve(holder, symbol, 1, usd(80))
    const again = await exchange.buying.reserving.reserve({ symbol, quantity: 1, holder, paymentId: first.paymentId })
    expect(again.positionId).toBe((first.reservation as { position: string }).position)
    expect((await findSeries(db.database, symbol))?.sold).toBe(1)
  })

  test('a reservation that lapsed goes back, and money that arrives then buys nothing', async () => {
    const symbol = await listed()
    await offered(symbol, '80')
    const late = await exchange.reserve(walletOf(0xd301), symbol, 1, usd(80))
    exchange.clock.advance(exchange.deps.settings.reservationMs)
    await releaseLapsed(exchange.deps)
    await exchange.buy(walletOf(0xd302), symbol, 1, usd(80))
    await expect(exchange.commit([late])).rejects.toBeInstanceOf(SaleImpossible)
    expect(await locked(symbol)).toBe(cap)
  })

  test('a buyer who lost it after paying is refunded without asking, once', async () => {
    const symbol = await listed()
    await offered(symbol, '80')
    const late = await exchange.reserve(walletOf(0xd351), symbol, 1, usd(80))
    exchange.clock.advance(exchange.deps.settings.reservationMs)
    await releaseLapsed(exchange.deps)
    await db.database.query(`update payment set state = 'credited' where id = $1`, [late.paymentId])
    expect(await refundLost(exchange.deps)).toBe(1)
    expect(await refundLost(exchange.deps)).toBe(0)
    const { rows } = await db.database.query(`select amount_micro, state from refund where payment_id = $1`, [
      late.paymentId,
    ])
    expect(rows).toEqual([{ amount_micro: usd(80), state: 'asked' }])
  })

  test('a premium that landed again after a reorg, and collateral that came too late, are refunded without asking', async () => {
    const symbol = await listed()
    await offered(symbol, '80')
    const again = await exchange.buy(walletOf(0xd361), symbol, 1, usd(80), { final: false })
    await exchange.revoke(again)
    await expect(exchange.commit([again])).rejects.toBeInstanceOf(SaleImpossible)
    const late = await exchange.payment(walletOf(0xd362), cap - usd(80), true, 'options.write')
    await db.database.query(`update payment set state = 'credited' where id = any($1)`, [[again.paymentId, late]])
    expect(await refundLost(exchange.deps)).toBe(2)
    expect(await refundLost(exchange.deps)).toBe(0)
  })

  test('a part of a premium is never given back', async () => {
    const sale = exchange.saleOf('pay_x', 'options.buy', holder, usd(80), null)
    const refund = (micro: bigint) =>
      db.database.transaction((tx) => refusePartRefunds(tx, sale, { reason: 'refund', micro }))
    await expect(refund(usd(1))).rejects.toThrow('whole or not at all')
    await refund(usd(80))
  })

  test('a payment that ended without money frees its contracts at once', async () => {
    const symbol = await listed()
    await offered(symbol, '80')
    const sale = await exchange.reserve(walletOf(0xd401), symbol, 1, usd(80))
    await db.database.query(`update payment set state = 'released' where id = $1`, [sale.paymentId])
    await releaseLapsed(exchange.deps)
    await exchange.reserve(walletOf(0xd402), symbol, 1, usd(80))
  })
})

describe('prices', () => {
  test('the cheapest and oldest offer is sold first', async () => {
    const me = nextWallet()
    const symbol = await listed()
    await offered(symbol, '90')
    await offered(symbol, '70', 1, walletOf(0xa2))
    await exchange.buy(me, symbol, 1, usd(70))
    const { rows } = await db.database.query<{ writer: string }>(
      `select writer from option_fill f join option_position p on p.id = f.position_id where p.symbol = $1`,
      [symbol],
    )
    expect(rows).toEqual([{ writer: walletOf(0xa2) }])
  })

  test('a premium that rose meanwhile is refused before any money is taken', async () => {
    const symbol = await listed()
    await offered(symbol, '90')
    await expect(exchange.reserve(holder, symbol, 1, usd(80))).rejects.toMatchObject({ code: 'options_price_moved' })
  })

  test('a premium outside the band cannot be asked', async () => {
    const symbol = await listed()
    for (const premium of ['49.999999', '120.000001', '-60', 'sixty'])
      await expect(exchange.write(writer, { symbol, premium_usd: premium }, usd(900))).rejects.toMatchObject({
        code: 'premium_out_of_band',
      })
  })

  test('less collateral than the contract needs writes nothing', async () => {
    const symbol = await listed()
    await expect(exchange.write(writer, { symbol, premium_usd: '80' }, cap - usd(81))).rejects.toBeInstanceOf(
      SaleImpossible,
    )
    expect(await locked(symbol)).toBe(0n)
  })
})

describe('time', () => {
  test('at the last moment of trading one can buy, at the very end one cannot', async () => {
    const symbol = await listed()
    await offered(symbol, '80', 2)
    const lastMs = expiresAtMs - exchange.deps.settings.cutoffMs
    exchange.clock.set(lastMs - 1)
    await exchange.reserve(holder, symbol, 1, usd(80))
    exchange.clock.set(lastMs)
    await expect(exchange.reserve(holder, symbol, 1, usd(80))).rejects.toMatchObject({ code: 'series_closed' })
    await expect(exchange.write(writer, { symbol, premium_usd: '80' }, cap - usd(80))).rejects.toMatchObject({
      code: 'series_closed',
    })
  })

  test('a moment before the expiry nothing is settled, at the expiry it is', async () => {
    const symbol = await listed()
    await offered(symbol, '80')
    await publishTicks(exchange, '52', expiresAtMs, 1_000_000n)
    exchange.clock.set(expiresAtMs - 1)
    await settleSeries(exchange.deps)
    expect((await findSeries(db.database, symbol))?.state).toBe('trading')
    exchange.clock.set(expiresAtMs)
    await settleSeries(exchange.deps)
    expect((await findSeries(db.database, symbol))?.state).toBe('ended')
  })

  test('missing oracle values: the series waits, and settles on a later window', async () => {
    const me = nextWallet()
    const symbol = await listed({ cluster: '53' })
    await offered(symbol, '80')
    await exchange.buy(me, symbol, 1, usd(80))
    await publishTicks(exchange, '53', expiresAtMs, 1_200_000n, 3)
    exchange.clock.set(expiresAtMs + 1_000)
    await settleSeries(exchange.deps)
    expect((await findSeries(db.database, symbol))?.state).toBe('trading')
    const later = expiresAtMs + exchange.deps.settings.windowMs
    await publishTicks(exchange, '53', later, 1_100_000n)
    exchange.clock.set(later)
    await settleSeries(exchange.deps)
    expect(await payable(me)).toBe(usd(100))
  })

  test('series that wait are looked up together, and settle once their window is published', async () => {
    const lookUp = async () => {
      const { deps, count } = counted()
      await settleSeries(deps)
      return count('query') + count('transaction')
    }
    // After all that other tests have published.
    expiresAtMs += 86_400_000
    exchange.clock.set(expiresAtMs)
    const symbols = [await listed({ cluster: '53', strike: 90 })]
    await settleSeries(exchange.deps)
    const forOne = await lookUp()
    for (const strike of [95, 100, 105, 110, 115]) symbols.push(await listed({ cluster: '53', strike }))
    expect(await lookUp()).toBe(forOne)
    expect((await findSeries(db.database, symbols[0] as string))?.state).toBe('trading')
    await publishTicks(exchange, '53', expiresAtMs, 1_100_000n)
    expect(await settleSeries(exchange.deps)).toBe(symbols.length)
  })

  test('a series with nobody in it is decided and ended in a transaction each', async () => {
    const symbol = await listed()
    await publishTicks(exchange, '52', expiresAtMs, 1_100_000n)
    exchange.clock.set(expiresAtMs - 1)
    await settleSeries(exchange.deps)
    exchange.clock.set(expiresAtMs)
    const { deps, count } = counted()
    expect(await settleSeries(deps)).toBe(1)
    expect(count('transaction')).toBe(2)
    expect((await findSeries(db.database, symbol))?.state).toBe('ended')
  })

  test('rules that the operator changes after the listing do not change how a series is settled', async () => {
    const me = nextWallet()
    const symbol = await listed()
    await offered(symbol, '80')
    await exchange.buy(me, symbol, 1, usd(80))
    const { windowMs, agentsMin } = exchange.deps.settings
    await db.database.query(
      `update option_series set window_ms = $2, agents_min = $3, extensions_max = 2 where symbol = $1`,
      [symbol, windowMs, agentsMin],
    )
    await publishTicks(exchange, '52', expiresAtMs, 1_100_000n)
    const changed = createExchange(db.database, { settings: { windowMs: 10 * windowMs, agentsMin: 1_000 } })
    changed.clock.set(expiresAtMs)
    await settleSeries(changed.deps)
    expect(await payable(me)).toBe(usd(100))
  })

  test('a quote is good for a minute, for what it names', async () => {
    const symbol = await listed()
    await offered(symbol, '80', 2)
    const { id } = exchange.quotes.issue({ symbol, quantity: 1, totalMicro: usd(80) })
    await exchange.reserve(holder, symbol, 1, usd(80), { quote_id: id })
    await expect(exchange.reserve(holder, symbol, 2, usd(160), { quote_id: id })).rejects.toMatchObject({
      code: 'quote_stale',
    })
    exchange.clock.advance(60_000)
    await expect(exchange.reserve(holder, symbol, 1, usd(80), { quote_id: id })).rejects.toMatchObject({
      code: 'quote_stale',
    })
    await expect(
      exchange.reserve(holder, symbol, 1, usd(80), { quote_id: `${id.slice(0, -2)}AA` }),
    ).rejects.toMatchObject({ code: 'quote_stale' })
  })
})

describe('money that is not final', () => {
  test('nothing is sold on an offer before its money is final, and it cannot be withdrawn', async () => {
    const symbol = await listed()
    const me = nextWallet()
    const sale = await exchange.write(me, { symbol, premium_usd: '80' }, cap - usd(80), { final: false })
    await activateOffers(exchange.deps)
    await expect(exchange.reserve(holder, symbol, 1, usd(80))).rejects.toMatchObject({ code: 'options_sold_out' })
    const offerId = (sale.reservation as { order: string }).order
    await expect(withdraw(exchange.deps, { offerId, writer: me })).rejects.toMatchObject({
      code: 'money_not_final',
    })
    await exchange.revoke(sale)
    expect(await locked(symbol)).toBe(0n)
  })

  test('a position whose premium is not final waits at the settlement', async () => {
    const me = nextWallet()
    const symbol = await listed()
    await offered(symbol, '80')
    const sale = await exchange.buy(me, symbol, 1, usd(80), { final: false })
    expect((await settledAt(symbol, 110))?.state).toBe('settling')
    expect(await payable(me)).toBe(0n)
    await db.database.query(`update payment set final = true where id = $1`, [sale.paymentId])
    await settleSeries(exchange.deps)
    expect(await payable(me)).toBe(usd(100))
    expect((await findSeries(db.database, symbol))?.state).toBe('ended')
  })

  test('a reorg puts the contract back and leaves exactly its collateral', async () => {
    const symbol = await listed()
    await offered(symbol, '80')
    const sale = await exchange.buy(walletOf(0xd501), symbol, 1, usd(80), { final: false })
    await exchange.revoke(sale)
    expect(await locked(symbol)).toBe(cap - usd(80))
    await exchange.buy(walletOf(0xd502), symbol, 1, usd(80))
    expect(await locked(symbol)).toBe(cap)
  })

  test('credit that a reorg took away after it bought a contract is set off against the payout', async () => {
    const me = nextWallet()
    const symbol = await listed()
    await offered(symbol, '80', 2)
    await exchange.buy(me, symbol, 1, usd(80))
    await exchange.buy(me, symbol, 1, usd(80))
    await owes(me, usd(130))
    await settledAt(symbol, 110)
    expect(await payable(me)).toBe(usd(70))
    expect(await balanceOf(db.database, accounts.receivable(network, me, 'credit'))).toBe(0n)
    expect(await locked(symbol)).toBe(0n)
  })

  test('a debt that is just being written down is waited for and set off', async () => {
    const me = nextWallet()
    const symbol = await listed()
    await offered(symbol, '80')
    await exchange.buy(me, symbol, 1, usd(80))
    const credit = accounts.credit(network, me)
    const custody = creatorAccounts.distributor(network)
    await post(db.database, [
      {
        reference: `topup:${me}`,
        kind: 'topup',
        lines: [
          { account: custody, amount: usd(1) },
          { account: credit, amount: -usd(1) },
        ],
      },
    ])
    let settling: Promise<unknown> = Promise.resolve()
    await db.database.transaction(async (tx) => {
      await lockBalances(tx, [credit])
      await post(tx, [
        {
          reference: `reorg:${me}`,
          kind: 'reorg',
          lines: [
            { account: accounts.receivable(network, me, 'credit'), amount: usd(30) },
            { account: custody, amount: -usd(30) },
          ],
        },
      ])
      settling = settledAt(symbol, 110)
      await Promise.race([settling, waits()])
    })
    await settling
    expect(await payable(me)).toBe(usd(70))
    expect(await balanceOf(db.database, accounts.receivable(network, me, 'credit'))).toBe(0n)
  })

  test('a writer who owes what a reorg took gets the rest of its collateral, at the end and on request', async () => {
    const [me, other] = [nextWallet(), walletOf(0xe000 + minute)]
    const symbol = await listed()
    await offered(symbol, '80', 1, me)
    const offerId = await offered(symbol, '90', 1, other)
    await exchange.buy(holder, symbol, 1, usd(80))
    for (const wallet of [me, other]) await owes(wallet, usd(100))
    await withdraw(exchange.deps, { offerId, writer: other })
    expect(await payable(other)).toBe(cap - usd(90) - usd(100))
    await settledAt(symbol, 110)
    expect(await payable(me)).toBe(cap - usd(100) - usd(100))
    for (const wallet of [me, other])
      expect(await balanceOf(db.database, accounts.receivable(network, wallet, 'credit'))).toBe(0n)
  })

  test('an offer whose writer owes what a reorg took does not keep its series from ending', async () => {
    const me = nextWallet()
    const symbol = await listed()
    await owes(me, usd(900))
    await exchange.write(me, { symbol, premium_usd: '80' }, cap - usd(80))
    await activateOffers(exchange.deps)
    await expect(exchange.reserve(holder, symbol, 1, usd(80))).rejects.toMatchObject({ code: 'options_sold_out' })
    expect((await settledAt(symbol, 110))?.state).toBe('ended')
    expect(await payable(me)).toBe(usd(20))
  })

  test('what was settled can no longer be revoked', async () => {
    const symbol = await listed()
    await offered(symbol, '80')
    const sale = await exchange.buy(nextWallet(), symbol, 1, usd(80))
    await settledAt(symbol, 110)
    await expect(exchange.revoke(sale)).rejects.toThrow()
  })
})

describe('collateral', () => {
  test('what is free can be withdrawn, what is sold or reserved cannot', async () => {
    const before = await payable(writer)
    const symbol = await listed()
    const offerId = await offered(symbol, '80', 3)
    await exchange.buy(holder, symbol, 1, usd(80))
    await exchange.reserve(walletOf(0xd601), symbol, 1, usd(80))
    await expect(withdraw(exchange.deps, { offerId, writer, quantity: 2 })).rejects.toMatchObject({
      code: 'collateral_locked',
      details: { extra: { free_quantity: 1 } },
    })
    await expect(withdraw(exchange.deps, { offerId, writer: holder })).rejects.toMatchObject({
      code: 'offer_unknown',
    })
    expect(await withdraw(exchange.deps, { offerId, writer })).toMatchObject({ quantity: 1, left: 0 })
    await expect(withdraw(exchange.deps, { offerId, writer })).rejects.toMatchObject({ code: 'collateral_locked' })
    expect((await payable(writer)) - before).toBe(cap - usd(80))
    expect(await locked(symbol)).toBe(cap + (cap - usd(80)))
  })

  test('a contract withdrawn at the same moment as it is bought is one or the other', async () => {
    const symbol = await listed()
    const offerId = await offered(symbol, '80')
    const [bought, withdrawn] = await Promise.allSettled([
      exchange.buy(holder, symbol, 1, usd(80)),
      withdraw(exchange.deps, { offerId, writer }),
    ])
    expect([bought.status, withdrawn.status].sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('the vault writes at the model price, within its hard limit, after all others', async () => {
    const me = nextWallet()
    const operator = accounts.operator(network, 'usdc')
    const before = await balanceOf(db.database, operator)
    const symbol = await listed({ modelMicro: usd(85) })
    await offered(symbol, '85')
    await db.database.query(`update option_vault set limit_micro = $1, used_micro = 0`, [(cap - usd(85)) * 2n])
    await exchange.buy(me, symbol, 3, usd(255))
    const vault = await db.database.query<{ used_micro: bigint }>(`select used_micro from option_vault`)
    expect(vault.rows[0]?.used_micro).toBe((cap - usd(85)) * 2n)
    await expect(exchange.reserve(me, symbol, 1, usd(85))).rejects.toMatchObject({ code: 'options_sold_out' })
    await settledAt(symbol, 105)
    expect(await payable(me)).toBe(usd(150))
    const after = await db.database.query<{ used_micro: bigint }>(`select used_micro from option_vault`)
    expect(after.rows[0]?.used_micro).toBe(0n)
    // Two premiums of 85 came in, two payoffs of 50 went out.
    expect(before - (await balanceOf(db.database, operator))).toBe(usd(70))
    await db.database.query(`update option_vault set limit_micro = 0`)
  })

  test('open interest beyond its bound and too many contracts of one wallet are refused', async () => {
    const symbol = await listed({ interestMicro: size })
    await offered(symbol, '80', 3)
    await expect(exchange.reserve(holder, symbol, 2, usd(160))).rejects.toMatchObject({
      code: 'options_limit',
      details: { extra: { limit: 'open_interest' } },
    })
    const small = createExchange(db.database, { settings: { contractsPerWallet: 1 } })
    await small.reserve(holder, symbol, 1, usd(80))
    await expect(small.reserve(holder, symbol, 1, usd(80))).rejects.toMatchObject({
      details: { extra: { limit: 'contracts_per_wallet' } },
    })
  })

  test('open interest counts every strike that the same push of the index would move', async () => {
    const other = createExchange(db.database)
    const call = await listed({ strike: 100, interestMicro: 2n * size })
    const higher = await listed({ strike: 105, interestMicro: 2n * size })
    const put = await listed({ strike: 100, kind: 'P', interestMicro: 2n * size })
    for (const symbol of [call, higher, put]) await offered(symbol, '80', 3)
    await exchange.reserve(holder, call, 1, usd(80))
    await other.reserve(holder, higher, 1, usd(80))
    for (const symbol of [call, higher])
      await expect(exchange.reserve(holder, symbol, 1, usd(80))).rejects.toMatchObject({
        code: 'options_limit',
        details: { extra: { limit: 'open_interest' } },
      })
    await exchange.reserve(holder, put, 2, usd(160))
  })

  test('who is not on the list cannot trade', async () => {
    const closed = createExchange(db.database, { settings: { eligible: new Set([writer]) } })
    const symbol = await listed()
    await expect(closed.reserve(holder, symbol, 1, usd(80))).rejects.toMatchObject({ code: 'options_not_eligible' })
    await expect(closed.write(holder, { symbol, premium_usd: '80' }, usd(920))).rejects.toMatchObject({
      code: 'options_not_eligible',
    })
  })
})

test('what was agreed to is what is bought: another price is refused, also a lower one, and nothing is held', async () => {
  const me = nextWallet()
  const symbol = await listed()
  await offered(symbol, '80', 2)
  for (const agreed of [usd(79), usd(90)])
    await expect(exchange.reserve(me, symbol, 1, agreed)).rejects.toMatchObject({
      code: 'options_price_moved',
      details: { extra: { premium_micro: usd(80).toString() } },
    })
  const { id } = exchange.quotes.issue({ symbol, quantity: 1, totalMicro: usd(80) })
  await offered(symbol, '70', 1)
  // A cheaper offer came after the quote: it is not swapped in behind the buyer's back.
  await expect(exchange.reserve(me, symbol, 1, usd(80), { quote_id: id })).rejects.toMatchObject({
    code: 'options_price_moved',
    details: { extra: { premium_micro: usd(70).toString() } },
  })
  await exchange.buy(me, symbol, 1, usd(70))
})

test('two reads of the stream make one index, and list the same series once', async () => {
  const endMs = Math.floor(exchange.clock.nowMs() / 30_000) * 30_000 - 86_400_000
  const fresh = createExchange(db.database)
  fresh.clock.set(endMs + 1_000)
  // Long before what the other tests published, in a database where nothing is newer.
  await db.database.query(`delete from option_tick`)
  await db.database.query(`delete from option_tick_proof`)
  await db.database.query(`delete from option_input`)
  fresh.demand.publish(
    Array.from({ length: 40 }, (_, age) =>
      ['52', '53', '150', '464'].map((cluster, n) => ({
        cluster,
        startsAtMs: endMs - (age + 1) * 30_000,
        endsAtMs: endMs - age * 30_000,
        demand: 30,
        bonded: 20 + n + (age % 3),
        eventId: `t-${age}-${cluster}`,
        synthetic: true,
      })),
    ).flat(),
  )
  const twin = { ...fresh.deps }
  await Promise.all([followIndex(fresh.deps), followIndex(twin)])
  expect(await followIndex(fresh.deps)).toBe(0)
  const { rows } = await db.database.query<{ ticks: bigint; clusters: bigint }>(
    `select count(*) as ticks, count(distinct cluster) as clusters from option_tick where method <> ''`,
  )
  expect(rows[0]).toEqual({ ticks: 160n, clusters: 4n })
  expect(await listSeries(fresh.deps)).toBeGreaterThan(0)
  const { windowMs, agentsMin, extensionsMax } = fresh.deps.settings
  const { rows: rules } = await db.database.query(
    `select distinct window_ms, agents_min, extensions_max from option_series where window_ms is not null and listed_at < $1`,
    [new Date(endMs + 2_000)],
  )
  expect(rules).toEqual([{ window_ms: BigInt(windowMs), agents_min: agentsMin, extensions_max: extensionsMax }])
  expect(await listSeries(fresh.deps)).toBe(0)
  expect(await priceSeries(fresh.deps)).toBeGreaterThan(0)
})

test('an index is read again once it has a newer tick', async () => {
  let reads = 0
  const query = (...given: Parameters<typeof db.database.query>) => {
    if (String(given[0]).includes('share_e12')) reads += 1
    return db.database.query(...given)
  }
  const read = createIndexReader({ query: query as typeof db.database.query }, 5)
  const tick = (second: number) =>
    db.database.query(
      `with proof as (insert into option_tick_proof (method, at, jws) values ('reader', to_timestamp($1), ''))
       insert into option_tick (method, cluster, at, share_e12, value_e4, agents) values ('reader', '52', to_timestamp($1), 1, 1, 1)`,
      [second],
    )
  expect(await read('reader')).toEqual([])
  await tick(1)
  expect((await read('reader'))[0]?.ticks).toHaveLength(1)
  expect((await read('reader'))[0]?.ticks).toHaveLength(1)
  expect(reads).toBe(2)
  await tick(2)
  expect((await read('reader'))[0]?.ticks).toHaveLength(2)
  await db.database.query(`delete from option_tick where method = 'reader'`)
  await db.database.query(`delete from option_tick_proof where method = 'reader'`)
})

test('settings of the index that change do not change the index of a series that is listed', async () => {
  const endMs = Math.floor(exchange.clock.nowMs() / 60_000) * 60_000 - 2 * 86_400_000
  for (const table of ['option_tick', 'option_tick_proof', 'option_input'])
    await db.database.query(`delete from ${table}`)
  await db.database.query(`update option_series set state = 'ended'`)
  const before = createExchange(db.database)
  const buckets = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) =>
      ['52', '53', '150', '464'].map((cluster, place) => ({
        cluster,
        startsAtMs: from + n * 30_000,
        endsAtMs: from + (n + 1) * 30_000,
        demand: 60,
        bonded: 20 + place * 5 + ((n * (place + 3)) % 17),
        eventId: `m-${from}-${n}-${cluster}`,
        synthetic: true,
      })),
    ).flat()
  before.demand.publish(buckets(endMs - 40 * 30_000, 40))
  before.clock.set(endMs + 1_000)
  await followIndex(before.deps)
  expect(await listSeries(before.deps)).toBeGreaterThan(0)
  const values = async (method: string) =>
    (
      await db.database.query<{ at: Date; value_e4: bigint }>(
        `select at, value_e4 from option_tick where method = $1 and cluster = '150' order by at`,
        [method],
      )
    ).rows.map(({ at, value_e4 }) => `${at.toISOString()} ${value_e4}`)
  // The same stream goes on, once as it was and once under an operator who set something else.
  const halfLifeMs = before.deps.settings.halfLifeMs * 4
  const after = createExchange(db.database, { settings: { tickMs: 60_000, halfLifeMs } })
  const all = [...buckets(endMs - 40 * 30_000, 40), ...buckets(endMs, 10)]
  after.demand.publish(all)
  after.clock.set(endMs + 300_000 + 1_000)
  await followIndex(after.deps)
  const listedBy = `30000:${before.deps.settings.halfLifeMs}`
  const pinned = await values(listedBy)
  expect(pinned).toHaveLength(50)
  expect((await values(`60000:${halfLifeMs}`)).length).toBeGreaterThan(20)
  const [series] = (await before.board.read()).values()
  expect(series?.series.method).toBe(listedBy)
  // Alone and undisturbed it comes to the same figures.
  for (const table of ['option_tick', 'option_tick_proof']) await db.database.query(`delete from ${table}`)
  before.demand.publish(buckets(endMs, 10))
  before.clock.set(endMs + 300_000 + 1_000)
  await followIndex(before.deps)
  expect(await values(listedBy)).toEqual(pinned)
})

test('every tick of the index is in the transparency log, once', async () => {
  const { rows } = await db.database.query<{ entry: Buffer; subject: string }>(
    `select l.entry, l.subject from log_entry l where l.kind = 'index'`,
  )
  const { rows: proofs } = await db.database.query<{ method: string; at: Date }>(
    `select method, at from option_tick_proof where jws <> 'test'`,
  )
  const subjects = new Set(rows.map(({ subject }) => subject))
  expect(proofs.length).toBeGreaterThan(0)
  expect(subjects.size).toBe(rows.length)
  for (const { method, at } of proofs) expect(subjects).toContain(`index:${method}:${at.toISOString()}`)
  expect(JSON.parse(rows[0]?.entry.toString() ?? '')).toMatchObject({
    type: 'assay.options.index/v1',
    values: { '52': expect.any(String) },
  })
})

test('a series at its limit of open interest is not offered: not in the list, not as a quote, not in the 402', async () => {
  const symbol = await listed({ interestMicro: size, modelMicro: usd(80) })
  await offered(symbol, '80', 2)
  exchange.board.changed()
  exchange.clock.advance(100)
  expect((await exchange.board.ask(symbol, 1)).totalMicro).toBe(usd(80))
  await expect(exchange.board.ask(symbol, 2)).rejects.toMatchObject({ code: 'options_limit' })
  await exchange.buy(nextWallet(), symbol, 1, usd(80))
  const later = createExchange(db.database)
  await expect(later.board.ask(symbol, 1)).rejects.toMatchObject({ code: 'options_limit' })
  const page = await listMarket({ ...later.deps, board: later.board }, { buyable: true, limit: 500 })
  expect(page.data.map((row) => row.symbol)).not.toContain(symbol)
})

test('the books balance after all of it', async () => {
  const { sumByUnit } = await trialBalance(db.database)
  for (const sum of Object.values(sumByUnit)) expect(sum).toBe(0n)
})
