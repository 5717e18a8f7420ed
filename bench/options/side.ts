// The node with settlement stubbed, and option series with more contracts on offer than anybody will buy.
import { createTestDemand, testClusters } from '../../packages/node/src/shops/options/exchange.fixture.ts'
import { openOptions, optionsShop, parseOptionSettings } from '../../packages/node/src/shops/options/index.ts'
import { openDatabase } from '../citations/open-database.ts'
import { answerCommands, cpuMicros } from '../process/commands.ts'
import { openDatabaseCpu } from '../process/database-cpu.ts'
import { startStubbedNode } from '../sides/stubbed-node.ts'
import { offerSeries } from './offer-series.ts'

const node = await startStubbedNode({
  ownShops: 'till',
  shops: [
    {
      ...optionsShop,
      open: async (context) => {
        const demand = createTestDemand(testClusters)
        const shop = await openOptions(context, {
          settings: parseOptionSettings({ contracts_per_wallet: 1_000_000, vault_usd: '0' }, true),
          demand,
          bondMs: 31 * 86_400_000,
        })
        if (!shop) throw new Error('the exchange is off')
        return shop
      },
    },
  ],
})
const databaseCpu = await openDatabaseCpu(node.databaseUrl)
const database = openDatabase(node.databaseUrl)

const symbols = await offerSeries(database)

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
