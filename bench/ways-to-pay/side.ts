// The node of the paid figure, with wallets that have credit and wallets that subscribed.
import type { Address } from '../../packages/protocol/src/address.ts'
import type { Hex } from '../../packages/protocol/src/bytes.ts'
import type { ChannelConfig } from '../../packages/protocol/src/typed-data/channel.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { insertChannel } from '../../packages/till/src/schemes/batch-settlement/channel-store.ts'
import { tokenSecretInForce } from '../../packages/till/src/signing/token-secret.ts'
import { createCheapShop } from '../../test/harness/cheap-shop.ts'
import { openFeedShop } from '../../test/harness/feed-shop.ts'
import { addCredit, serveNode } from '../sides/serve-node.ts'

await serveNode({ shops: [openFeedShop, createCheapShop().open] }, ({ database }) => ({
  log_bytes: async () => {
    const { rows } = await database.query<{ bytes: string }>(
      `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as bytes`,
    )
    return Number(rows[0]?.bytes)
  },
  credit: (wallets: readonly Address[]) => addCredit(database, wallets, 1_000_000_000n),
  /** Channels that were paid into before, with no calls yet. The chain has none of them: their state is that of a later block than it will reach. */
  channels: (channels: readonly { id: Hex; config: ChannelConfig }[]) =>
    Promise.all(
      channels.map(({ id, config }) =>
        insertChannel(
          database,
          { network: 'eip155:8453', id },
          config,
          { balanceMicro: 1_000_000_000n, claimedMicro: 0n, refundNonce: 0n, withdrawStartedAt: 0, atBlock: 1n << 40n },
          Date.now(),
        ),
      ),
    ).then(() => {}),
  subscribe: async (wallets: readonly Address[]) => {
    const { version } = await tokenSecretInForce(database, systemRng)
    await database.query(
      `insert into subscription (wallet, tier, from_at, until_at, changed_at, token_secret)
       select wallet, 'vip', now(), now() + interval '30 days', now(), $2 from unnest($1::text[]) w (wallet)`,
      [wallets, version],
    )
  },
}))
