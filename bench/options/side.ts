// The node with settlement stubbed, and option series with more contracts on offer than anybody will buy.
import type { ConfiguredShop } from '../../packages/node/src/config/load-config.ts'

import { createTestDemand, testClusters } from '../../packages/node/src/shops/options/exchange.fixture.ts'
import { openOptions, optionsShop, parseOptionSettings } from '../../packages/node/src/shops/options/index.ts'
import { serveNode } from '../sides/serve-node.ts'
import { offerSeries } from './offer-series.ts'

const exchange: ConfiguredShop = {
  ...optionsShop,
  open: async (context) => {
    const shop = await openOptions(context, {
      settings: parseOptionSettings({ contracts_per_wallet: 1_000_000, vault_usd: '0' }, true),
      demand: createTestDemand(testClusters),
      bondMs: 31 * 86_400_000,
      spendMicro: 0n,
    })
    if (!shop) throw new Error('the exchange is off')
    return shop
  },
}

await serveNode({ ownShops: 'till', shops: [exchange] }, async ({ database }) => {
  const symbols = await offerSeries(database)
  return {
    symbols: () => symbols,
    books: async () => {
      const { rows } = await database.query<{ open: bigint; locked: string }>(
        `select (select count(*) from option_position where state = 'open') as open,
           (select sum(b.owed_micro) from ledger_account a join ledger_balance b on b.account_id = a.id
            where a.name like 'option_collateral:%')::text as locked`,
      )
      return { open: Number(rows[0]?.open), locked_micro: rows[0]?.locked }
    },
  }
})
