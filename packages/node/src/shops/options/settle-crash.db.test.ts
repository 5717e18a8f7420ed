import { accounts, owedTo, trialBalance } from '@assay/till/ledger'
import type { Database, Tx } from '@assay/till/store/database'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { optionAccounts } from './accounts.ts'
import { activateOffers } from './activate-offers.ts'
import { createExchange, type Exchange, listTestSeries, network, publishTicks, walletOf } from './exchange.fixture.ts'
import { findSeries } from './series-store.ts'
import { settleSeries } from './settle-series.ts'

const db = await useTestDatabase()

class Killed extends Error {}

/** Dies at the n-th statement, as if the process had: what was open is rolled back, what was committed stays. */
function dyingAt(database: Database, statement: number): { database: Database; reached(): number } {
  let count = 0
  const step = () => {
    count += 1
    if (count === statement) throw new Killed(`at statement ${count}`)
  }
  const watched = <T extends Pick<Tx, 'query'>>(sql: T): T => ({
    ...sql,
    query: async (...args: Parameters<Tx['query']>) => {
      step()
      return sql.query(...args)
    },
  })
  return {
    reached: () => count,
    database: {
      ...watched(database),
      transaction: (work) =>
        database.transaction(async (tx) => {
          const outcome = await work(watched(tx))
          // Death between the last statement and the commit.
          step()
          return outcome
        }),
    },
  }
}

const usd = (dollars: number) => BigInt(dollars) * 1_000_000n
const cap = usd(1_000)
const owed = (n: number) => owedTo(db.database, accounts.payable(network, walletOf(n), 'option'))

/** Two writers, three buyers, one contract unsold, one by the vault. */
async function play(exchange: Exchange, n: number): Promise<string> {
  const expiresAtMs = exchange.clock.nowMs() + 600_000 + n * 60_000
  const symbol = await listTestSeries(exchange, { expiresAtMs, modelMicro: usd(90) })
  await exchange.write(walletOf(0xa000 + n), { symbol, premium_usd: '80' }, cap - usd(80))
  await exchange.write(walletOf(0xb000 + n), { symbol, premium_usd: '85', quantity: 1 }, cap - usd(85))
  await exchange.write(walletOf(0xb000 + n), { symbol, premium_usd: '120', quantity: 1 }, cap - usd(120))
  await activateOffers(exchange.deps)
  await db.database.query(`update option_vault set limit_micro = $1`, [usd(100_000)])
  for (const [buyer, price] of [
    [0xc000, 80],
    [0xd000, 85],
    [0xe000, 90],
  ] as const)
    await exchange.buy(walletOf(buyer + n), symbol, 1, usd(price))
  await publishTicks(exchange, '52', expiresAtMs, 1_200_000n)
  exchange.clock.set(expiresAtMs)
  return symbol
}

test('a settlement that dies at any statement is finished by the next run, and pays everybody once', async () => {
  const probe = createExchange(db.database)
  await play(probe, 0)
  const counted = dyingAt(db.database, Number.POSITIVE_INFINITY)
  await settleSeries({ ...probe.deps, database: counted.database })
  const statements = counted.reached()
  expect(statements).toBeGreaterThan(20)
  for (let at = 1; at <= statements; at += 1) {
    const exchange = createExchange(db.database)
    const symbol = await play(exchange, at)
    const dying = dyingAt(db.database, at)
    // A run logs what it could not do and goes on with the next series; dying at its first query it ends.
    await settleSeries({ ...exchange.deps, database: dying.database }).catch((error: unknown) => {
      expect(error).toBeInstanceOf(Killed)
    })
    await settleSeries(exchange.deps)
    expect((await findSeries(db.database, symbol))?.state, `after dying at ${at}`).toBe('ended')
    const parts = await Promise.all([owed(0xa000 + at), owed(0xb000 + at), owed(0xc000 + at), owed(0xd000 + at)])
    // Twenty points in the money at ten dollars each.
    expect(parts).toEqual([cap - usd(200), cap - usd(200) + cap - usd(120), usd(200), usd(200)])
    expect(await owedTo(db.database, optionAccounts.collateral(network, symbol))).toBe(0n)
  }
  const { sumByUnit } = await trialBalance(db.database)
  for (const sum of Object.values(sumByUnit)) expect(sum).toBe(0n)
  const { rows } = await db.database.query<{ used_micro: bigint }>(`select used_micro from option_vault`)
  expect(rows[0]?.used_micro).toBe(0n)
}, 180_000)

test('two processes that settle at once pay once', async () => {
  const exchange = createExchange(db.database)
  const symbol = await play(exchange, 900)
  const other = createExchange(db.database)
  other.clock.set(exchange.clock.nowMs())
  await Promise.all([settleSeries(exchange.deps), settleSeries(other.deps)])
  await settleSeries(exchange.deps)
  expect((await findSeries(db.database, symbol))?.state).toBe('ended')
  expect(await owed(0xc000 + 900)).toBe(usd(200))
})
