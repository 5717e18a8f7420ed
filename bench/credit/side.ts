// The node of the paid figure, with wallets that have credit and wallets that subscribed.
import type { Address } from '../../packages/protocol/src/address.ts'
import { openFeedShop } from '../../test/harness/feed-shop.ts'
import { giveCredit, serveNode } from '../sides/serve-node.ts'

await serveNode({ shops: [openFeedShop] }, ({ database }) => ({
  log_bytes: async () => {
    const { rows } = await database.query<{ bytes: string }>(
      `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as bytes`,
    )
    return Number(rows[0]?.bytes)
  },
  credit: (wallets: readonly Address[]) => giveCredit(database, wallets, 1_000_000_000n),
  subscribe: (wallets: readonly Address[]) =>
    database
      .query(
        `insert into subscription (wallet, tier, from_at, until_at, changed_at)
         select wallet, 'vip', now(), now() + interval '30 days', now() from unnest($1::text[]) w (wallet)`,
        [wallets],
      )
      .then(() => {}),
}))
