// The node with settlement stubbed, and option series with more contracts on offer than anybody will buy.
import { accounts, credit, debit, post } from '../../packages/node/src/ledger/index.ts'
import { createTestDemand, testClusters } from '../../packages/node/src/market/options/exchange.fixture.ts'
import { openOptions } from '../../packages/node/src/market/options/index.ts'
import { openDatabase } from '../citations/open-database.ts'
import { answerCommands, cpuMicros } from '../process/commands.ts'
import { openDatabaseCpu } from '../process/database-cpu.ts'
import { startStubbedNode } from '../sides/stubbed-node.ts'

const network = 'eip155:8453'
const writer = '0x2222222222222222222222222222222222222222'
const contracts = 1_000_000
const capMicro = 1_000_000_000n
const premiumMicro = 80_000_000n
const symbols = ['52', '53', '150', '464'].map((cluster) => `TC-${cluster}-20991204-100-C`)

const node = await startStubbedNode({
  ownShops: 'till',
  shops: [
    async (context) => {
      const demand = createTestDemand(testClusters)
      const shop = await openOptions(context, {
        settings: { contracts_per_wallet: 1_000_000, vault_usd: '0' },
        demand,
        bondMs: 31 * 86_400_000,
      })
      if (!shop) throw new Error('the exchange is off')
      return shop
    },
  ],
})
const databaseCpu = await openDatabaseCpu(node.databaseUrl)
const database = openDatabase(node.databaseUrl)

for (const [n, symbol] of symbols.entries()) {
  const cluster = symbol.split('-')[1]
  await database.query(`insert into option_cluster values ($1, 250000000000, now()) on conflict do nothing`, [cluster])
  await database.query(
    `insert into option_series (symbol, cluster, kind, strike, width, size_micro, cap_micro, listed_at, last_trade_at, expires_at, state,
       interest_limit_micro, volatility, priced_at, synthetic)
     values ($1, $2, 'C', 100, 100, 10000000, $3, now(), '2099-12-03', '2099-12-04T08:00:00Z', 'trading', 9000000000000000000, 0.9, now(), true)`,
    [symbol, cluster, capMicro],
  )
  await database.query(
    `insert into option_order (id, symbol, writer, payment_id, price_micro, quantity, open_quantity, state, seq, created_at)
     values ($1, $2, $3, $1, $4, $5, $5, 'live', 1, now())`,
    [`bench-${n}`, symbol, writer, premiumMicro, contracts],
  )
  const lockedMicro = (capMicro - premiumMicro) * BigInt(contracts)
  await post(database, [
    {
      reference: `bench:${symbol}`,
      kind: 'bench',
      lines: [
        debit(accounts.onchain(network, 'custody'), lockedMicro),
        credit(accounts.optionCollateral(network, symbol), lockedMicro),
      ],
    },
  ])
}

answerCommands(
  {
    port: () => Number(new URL(node.address).port),
    cpu: cpuMicros,
    database_cpu: databaseCpu.micros,
    symbols: () => symbols,
    books: async () => {
      const { rows } = await database.query<{ open: bigint; locked: string }>(
        `select (select count(*) from option_position where state = 'open') as open,
           (select sum(b.owed_micro) from ledger_account a join ledger_balance b on b.account_id = a.id
            where a.name like 'option_collateral:%')::text as locked`,
      )
      return { open: Number(rows[0]?.open), locked_micro: rows[0]?.locked }
    },
  },
  async () => {
    await database.close()
    await databaseCpu.close()
    await node.stop()
  },
)
