import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { Sale } from '@assay/till'
import { SaleImpossible } from '@assay/till/internal'
import { Problem } from '@assay/till/kernel/problem'
import { owedTo } from '@assay/till/ledger'
import type { Database } from '@assay/till/store/database'
import { optionAccounts } from './accounts.ts'
import { activateOffers } from './activate-offers.ts'
import {
  createExchange,
  type Exchange,
  insertPayments,
  listTestSeries,
  network,
  publishTicks,
  startMs,
  type TestPayment,
  walletOf,
} from './exchange.fixture.ts'
import { releaseLapsed, returnContracts } from './return-contracts.ts'
import { sellContracts } from './sell-contracts.ts'
import { settleSeries } from './settle-series.ts'
import { withdraw } from './withdraw.ts'

/** Numbers that look random and are the same for the same seed. */
export function createDice(seed: number) {
  let state = seed >>> 0 || 1
  const next = () => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state
  }
  return {
    below: (limit: number) => next() % limit,
    chance: (percent: number) => next() % 100 < percent,
  }
}

type Dice = ReturnType<typeof createDice>
type Round = { symbol: string; capMicro: Micro; expiresAtMs: number; cluster: string }

export type LivesReport = {
  lives: number
  bought: number
  released: number
  revoked: number
  late: number
  refused: number
  settled: number
  voided: number
  /** Positions that came from other holders, and that were sold whole. */
  moved: number
  closed: number
  /** Of money in and money out, to the micro; zero or the exchange is broken. */
  differenceMicro: Micro
  /** Times that a series held less than it could owe. */
  short: number
}

const writersPerSeries = 4
const seriesPerRound = 4

/**
 * Lives of options on the real code and a real database: written, reserved, paid, lapsed, undone by reorgs, withdrawn,
 * settled at random values or voided. After every round the collateral of each series is what its rows need.
 */
export async function runOptionLives(database: Database, lives: number, seed: number): Promise<LivesReport> {
  const dice = createDice(seed)
  const exchange = createExchange(database, { settings: { contractsPerWallet: 1_000_000 } })
  await database.query(`update option_vault set limit_micro = $1, used_micro = 0`, [10n ** 12n])
  const report: LivesReport = {
    lives: 0,
    bought: 0,
    released: 0,
    revoked: 0,
    late: 0,
    refused: 0,
    settled: 0,
    voided: 0,
    moved: 0,
    closed: 0,
    differenceMicro: 0n,
    short: 0,
  }
  const before = await moneyInBooks(database)
  for (let round = 0; report.lives < lives; round += 1) {
    exchange.clock.set(startMs + seed * 86_400_000 + round * 3_600_000)
    await playRound(exchange, dice, report, Math.min(400, lives - report.lives))
  }
  report.differenceMicro = (await moneyInBooks(database)) - before
  return report
}

/** All that is owed and all that is there: whatever happens in the exchange, the two stay equal. */
async function moneyInBooks(database: Database): Promise<Micro> {
  const { rows } = await database.query<{ sum: Micro }>(
    `select coalesce(sum(e.amount_micro), 0)::bigint as sum from ledger_entry e join ledger_account a on a.id = e.account_id
     where a.name like any (array['onchain:distributor@%', 'payable:option:%', 'option_collateral:%', 'option_orders:%', 'credit:%', 'operator:usdc@%'])`,
  )
  return rows[0]?.sum ?? 0n
}

async function playRound(exchange: Exchange, dice: Dice, report: LivesReport, lives: number): Promise<void> {
  const rounds = await listRound(exchange, dice)
  const offers = await writeRound(exchange, dice, rounds)
  const sales = await reserveRound(exchange, dice, rounds, lives, report)
  await payRound(exchange, dice, sales, report)
  await resellRound(exchange, dice, rounds)
  for (const [offerId, writer] of offers)
    if (dice.chance(20)) await withdraw(exchange.deps, { offerId, writer }).catch(refusal)
  for (const round of rounds) report.short += await shortOf(exchange, round)
  await endRound(exchange, dice, rounds, report)
}

function refusal(error: unknown): undefined {
  if (error instanceof Problem || error instanceof SaleImpossible) return undefined
  throw error
}

async function listRound(exchange: Exchange, dice: Dice): Promise<Round[]> {
  const rounds: Round[] = []
  for (let n = 0; n < seriesPerRound; n += 1) {
    const kind = dice.chance(50) ? ('C' as const) : ('P' as const)
    const strike = 5 * (10 + dice.below(30))
    const sizeMicro = BigInt(5_000_000 + dice.below(20_000_000))
    const expiresAtMs = exchange.clock.nowMs() + (10 + n) * 60_000
    const cluster = ['52', '53', '150', '464'][n] as string
    const modelMicro = dice.chance(50) ? BigInt(50_000_000 + dice.below(70_000_000)) : null
    const symbol = await listTestSeries(exchange, { kind, strike, sizeMicro, expiresAtMs, cluster, modelMicro })
    rounds.push({ symbol, expiresAtMs, cluster, capMicro: sizeMicro * BigInt(kind === 'C' ? 100 : strike) })
  }
  return rounds
}

async function writeRound(exchange: Exchange, dice: Dice, rounds: readonly Round[]): Promise<[string, Address][]> {
  const offers: [string, Address][] = []
  for (const { symbol, capMicro } of rounds)
    for (let n = 0; n < writersPerSeries; n += 1) {
      const writer = walletOf(0x10000 + dice.below(500))
      const premiumMicro = BigInt(50_000_000 + dice.below(70_000_001))
      const quantity = 1 + dice.below(10)
      const text = `${premiumMicro / 1_000_000n}.${(premiumMicro % 1_000_000n).toString().padStart(6, '0')}`
      const amount = (capMicro - premiumMicro) * BigInt(quantity)
      const sale = await exchange.write(writer, { symbol, premium_usd: text, quantity }, amount)
      offers.push([(sale.reservation as { order: string }).order, writer])
    }
  await activateOffers(exchange.deps)
  return offers
}

async function reserveRound(
  exchange: Exchange,
  dice: Dice,
  rounds: readonly Round[],
  lives: number,
  report: LivesReport,
): Promise<Sale[]> {
  const { database, ids } = exchange.deps
  const orders = Array.from({ length: lives }, () => {
    const quantity = dice.chance(80) ? 1 : 1 + dice.below(4)
    return {
      id: ids.next('pay'),
      payer: walletOf(0x20000 + dice.below(2_000)),
      symbol: (rounds[dice.below(rounds.length)] as Round).symbol,
      quantity,
      amountMicro: BigInt(quantity) * BigInt(55_000_000 + dice.below(66_000_000)),
    }
  })
  report.lives += orders.length
  const atMs = exchange.clock.nowMs()
  await insertPayments(
    database,
    orders.map(({ id, payer, amountMicro }): TestPayment => ({ id, payer, amountMicro, final: true, atMs })),
  )
  const outcomes: (Sale | undefined)[] = []
  for (let at = 0; at < orders.length; at += buyersAtOnce)
    outcomes.push(
      ...(await Promise.all(
        orders.slice(at, at + buyersAtOnce).map((order) => reserveAt(exchange, order).catch(refusal)),
      )),
    )
  const sales = outcomes.filter((sale): sale is Sale => sale !== undefined)
  report.refused += orders.length - sales.length
  return sales
}

type Order = { id: string; payer: Address; symbol: string; quantity: number; amountMicro: Micro }

const triesMax = 4
const buyersAtOnce = 4

/** Anyone who is quoted another price asks again at that price, a few times, as others buy in between. */
async function reserveAt(exchange: Exchange, { id, payer, symbol, quantity, amountMicro }: Order): Promise<Sale> {
  let micro = amountMicro
  for (let tries = 1; ; tries += 1)
    try {
      const { positionId } = await exchange.buying.reserving.reserve({ symbol, quantity, holder: payer, paymentId: id })
      return exchange.saleOf(id, 'options.buy', payer, micro, { position: positionId, symbol })
    } catch (error) {
      const present = error instanceof Problem ? error.details.extra?.['premium_micro'] : undefined
      if (typeof present !== 'string' || tries === triesMax) throw error
      micro = BigInt(present)
      const statement = 'update payment set amount_micro = $2, quoted_micro = $2 where id = $1'
      await exchange.deps.database.query(statement, [id, micro])
    }
}

async function payRound(exchange: Exchange, dice: Dice, sales: readonly Sale[], report: LivesReport): Promise<void> {
  const { database } = exchange.deps
  const fates = sales.map((sale) => ({ sale, fate: dice.below(100) }))
  // A tenth never pays in time, and of those some pay when it is too late.
  const lapsed = fates.filter(({ fate }) => fate < 10).map(({ sale }) => sale)
  await database.transaction((tx) =>
    returnContracts(exchange.deps, tx, lapsed.map(positionOf), { from: 'held', to: 'released' }),
  )
  report.released += lapsed.length
  for (const sale of lapsed.slice(0, 3))
    await exchange.commit([sale]).then(
      () => {
        throw new Error('what had lapsed was sold')
      },
      (error: unknown) => {
        refusal(error)
        report.late += 1
      },
    )
  const paid = fates.filter(({ fate }) => fate >= 10)
  for (let at = 0; at < paid.length; at += 100) await exchange.commit(paid.slice(at, at + 100).map(({ sale }) => sale))
  report.bought += paid.length
  for (const { sale } of paid.filter(({ fate }) => fate < 14)) {
    await exchange.revoke(sale)
    report.revoked += 1
  }
  await releaseLapsed(exchange.deps)
}

/** Orders of anybody, also of those who wrote, and holders who sell to them; some of it on and on. */
async function resellRound(exchange: Exchange, dice: Dice, rounds: readonly Round[]): Promise<void> {
  for (const { symbol } of rounds) {
    const { rows: writers } = await exchange.deps.database.query<{ wallet: Address }>(
      `select writer as wallet from option_order where symbol = $1`,
      [symbol],
    )
    for (let n = 0; n < 6; n += 1) {
      const wallet = dice.chance(50) ? walletOf(0x30000 + dice.below(500)) : writers[dice.below(writers.length)]?.wallet
      const [limit, quantity] = [50 + dice.below(71), 1 + dice.below(3)]
      const body = { symbol, limit_usd: String(limit), quantity }
      if (wallet) await exchange.order(wallet, body, BigInt(limit * quantity) * 1_000_000n).catch(refusal)
      await activateOffers(exchange.deps)
      const { rows } = await exchange.deps.database.query<{ id: string; holder: Address }>(
        `select id, holder from option_position where symbol = $1 and state = 'open' order by id`,
        [symbol],
      )
      const held = rows[dice.below(rows.length || 1)]
      if (!held) continue
      const selling = { positionId: held.id, holder: held.holder, limitMicro: 50_000_000n }
      await sellContracts(exchange.deps, selling).catch(refusal)
    }
  }
}

const positionOf = (sale: Sale) => {
  const { position, symbol } = sale.reservation as { position: string; symbol: string }
  return { id: position, symbol }
}

/** What its rows say must be locked, against what the books say is. */
async function shortOf(exchange: Exchange, { symbol, capMicro }: Round): Promise<number> {
  const { database } = exchange.deps
  const { rows } = await database.query<{ needed: Micro }>(
    `select ((select coalesce(sum(quantity), 0) from option_position where symbol = $1 and state = 'open') * $2::bigint
       + (select coalesce(sum(open_quantity * ($2::bigint - price_micro)), 0) from option_order where symbol = $1)
       -- What is reserved and not paid is still there as the collateral of its offer.
       + (select coalesce(sum(f.quantity * ($2::bigint - f.price_micro)), 0) from option_fill f
            join option_position p on p.id = f.position_id
          where p.symbol = $1 and p.state = 'held' and f.order_id is not null)
       + (select coalesce(sum(if_fixed_micro), 0) from option_claim where symbol = $1 and ended_at is null))::bigint as needed`,
    [symbol, capMicro],
  )
  return (await owedTo(database, optionAccounts.collateral(network, symbol))) === rows[0]?.needed ? 0 : 1
}

async function endRound(exchange: Exchange, dice: Dice, rounds: readonly Round[], report: LivesReport): Promise<void> {
  const { database, settings } = exchange.deps
  const voids = rounds.filter(() => dice.chance(25))
  for (const round of rounds)
    if (!voids.includes(round))
      await publishTicks(exchange, round.cluster, round.expiresAtMs, BigInt(dice.below(3_000_000)))
  exchange.clock.set(
    Math.max(...rounds.map(({ expiresAtMs }) => expiresAtMs)) + 3 * settings.windowMs + settings.stallMs,
  )
  await settleSeries(exchange.deps)
  const { rows } = await database.query<{ state: string; moved: boolean; count: bigint }>(
    `select state, payment_id like 'ord%' as moved, count(*) from option_position where symbol = any($1) group by 1, 2`,
    [rounds.map(({ symbol }) => symbol)],
  )
  for (const { state, moved, count } of rows) {
    if (moved) report.moved += Number(count)
    if (state === 'closed') report.closed += Number(count)
    if (state === 'settled') report.settled += Number(count)
    else if (state === 'voided') report.voided += Number(count)
    else if (state === 'held' || state === 'open') report.short += Number(count)
  }
  for (const { symbol } of rounds)
    if ((await owedTo(database, optionAccounts.collateral(network, symbol))) !== 0n) report.short += 1
}
