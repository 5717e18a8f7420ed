// The node of the paid figure, with wallets that have credit and wallets that subscribed.

import { creatorAccounts } from '../../packages/node/src/shops/attestations/accounts.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { accounts, credit, debit, post } from '../../packages/till/src/ledger/index.ts'
import { createDatabase } from '../../packages/till/src/store/pool.ts'
import { openFeedShop } from '../../test/harness/feed-shop.ts'
import { answerCommands, cpuMicros } from '../process/commands.ts'
import { openDatabaseCpu } from '../process/database-cpu.ts'
import { startStubbedNode } from '../sides/stubbed-node.ts'

const base = 'eip155:8453'
const node = await startStubbedNode({ shops: [openFeedShop] })
const database = createDatabase({
  target: { url: node.databaseUrl },
  poolSize: 2,
  clock: systemClock,
  rng: systemRng,
  log: silentLog,
})
const databaseCpu = await openDatabaseCpu(node.databaseUrl)

answerCommands(
  {
    port: () => Number(new URL(node.address).port),
    cpu: cpuMicros,
    database_cpu: databaseCpu.micros,
    log_bytes: async () => {
      const { rows } = await database.query<{ bytes: string }>(
        `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as bytes`,
      )
      return Number(rows[0]?.bytes)
    },
    credit: (wallets: readonly Address[]) =>
      post(
        database,
        wallets.map((wallet) => ({
          reference: `bench:${wallet}`,
          kind: 'topup',
          lines: [
            debit(creatorAccounts.distributor(base), 1_000_000_000n),
            credit(accounts.credit(base, wallet), 1_000_000_000n),
          ],
        })),
      ).then(() => {}),
    subscribe: (wallets: readonly Address[]) =>
      database
        .query(
          `insert into subscription (wallet, tier, from_at, until_at, changed_at)
           select wallet, 'vip', now(), now() + interval '30 days', now() from unnest($1::text[]) w (wallet)`,
          [wallets],
        )
        .then(() => {}),
  },
  async () => {
    await databaseCpu.close()
    await database.close()
    await node.stop()
  },
)
