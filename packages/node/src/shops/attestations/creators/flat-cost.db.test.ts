import type { Address } from '@assay/protocol/address'
import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import type { Database } from '@assay/till/store/database'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { blocksRead } from '../../../tlog/blocks-read.fixture.ts'
import type { CreatorDeps } from './deps.ts'
import { describeCreator } from './describe-creator.ts'
import { readClaimable } from './push-claims.ts'
import { expireWaiting, releaseWaiting } from './release-waiting.ts'

/** What a step reads must follow from what it has to do, not from what ever happened. */
const db = await useTestDatabase()

const network = 'eip155:8453'
const wallet: Address = `0x${'ab'.repeat(20)}`
const networks = [
  {
    network: { caip2: network, chainId: 8453, usdc: { address: `0x${'88'.repeat(20)}` } } as never,
    custody: `0x${'99'.repeat(20)}` as Address,
  },
]
const terms = { mover: wallet, claimDelaySeconds: 1, moveDelaySeconds: 1 }

const deps = (database: Database) =>
  ({
    database,
    clock: systemClock,
    log: silentLog,
    metrics: silentMetrics,
    settings: { waitMs: 10 ** 11, releaseMs: 0 },
    challengeMs: 0,
  }) as unknown as CreatorDeps

/** A past: shares that were paid long ago, shares that wait for domains nobody proves, epochs that were claimed. */
async function addPast(from: number, until: number): Promise<void> {
  await db.owner.query(
    `insert into creator_accrual (subject, payment_id, source, payer, network, domain, registrable, wallet, shard, micro,
       state, created_at)
     select 'old_' || n, 'old_' || n, 'credit', $1, $2, 'a.test', 'a.test', $1, n % 16, 10, 'committed', now()
     from generate_series($3::int, $4::int) n
     union all
     select 'wait_' || n, 'wait_' || n, 'credit', $1, $2, 'host-' || n || '.nobody.test', 'nobody.test', null, n % 16, 10,
       'waiting', now() from generate_series($3::int, $4::int) n`,
    [wallet, network, from, until],
  )
  await db.owner.query(
    `insert into creator_waiting select 'host-' || n || '.nobody.test', 'nobody.test', '-infinity'::timestamptz
     from generate_series($1::int, $2::int) n`,
    [from, until],
  )
  await db.owner.query(
    `with root as (insert into creator_root (network, contract, epoch, root, total_micro, pot_micro, leaves, head_block,
         state, opens_at, opened, signed_at)
       select $1, 'c', n, decode(repeat('aa', 32), 'hex'), 10 * n, 10, 1, n, 'committed', now(), true, now() - interval '1 day'
       from generate_series($3::int, $4::int) n returning id, epoch)
     insert into creator_leaf (root_id, network, epoch, account, domain, wallet, micro, proof, claim_transaction)
     select id, $1, epoch, decode(repeat('bb', 32), 'hex'), 'a.test', $2, 10, '', '0x00' from root`,
    [network, wallet, from, until],
  )
  await db.owner.query(
    `insert into creator_balance (network, wallet, committed_micro, opened_micro, claimed_micro)
     values ($1, $2, 10 * $3, 10 * $3, 10 * $3 - 10) on conflict (network, wallet) do update
       set committed_micro = excluded.committed_micro, opened_micro = excluded.opened_micro, claimed_micro = excluded.claimed_micro`,
    [network, wallet, until],
  )
  await db.owner.query('vacuum analyze creator_accrual, creator_leaf, creator_root, creator_waiting')
}

const work = {
  'describe a creator': (database: Database) =>
    describeCreator({ database, networks, terms, thresholdMicro: 1n, nowMs: systemClock.nowMs }, wallet),
  'find what can be claimed': (database: Database) => readClaimable(database, network, [wallet], 100),
  'release what waits': (database: Database) => releaseWaiting(deps(database)),
}

test('ten times the past costs a step nothing more', async () => {
  await addPast(1, 300)
  // Every domain is checked once; from then on only what happens to one calls for another check.
  await releaseWaiting(deps(db.database))
  await db.owner.query('vacuum analyze creator_waiting')
  const small = new Map<string, number>()
  for (const [name, step] of Object.entries(work)) small.set(name, await blocksRead(db.database, step))
  await addPast(301, 3_000)
  await releaseWaiting(deps(db.database))
  await db.owner.query('vacuum analyze creator_waiting')
  for (const [name, step] of Object.entries(work)) {
    const [before, after] = [small.get(name) as number, await blocksRead(db.database, step)]
    expect(after / Math.max(before, 10), `${name}: ${before} blocks, then ${after}`).toBeLessThan(2)
  }
  expect(await expireWaiting(deps(db.database))).toBe(0)
}, 120_000)

test('a proof is what calls for a check: the domain it is about, and no other', async () => {
  await db.owner.query(
    `insert into source (domain, registrable, display, origin, state, registered_at, updated_at)
     values ('host-7.nobody.test', 'nobody-7.test', 'x', 'http://x', 'proving', now(), now())`,
  )
  await db.owner.query(`update creator_waiting set registrable = 'nobody-7.test' where domain = 'host-7.nobody.test'`)
  await db.owner.query(`update source set state = 'proven' where domain = 'host-7.nobody.test'`)
  const { rows } = await db.database.query<{ domain: string }>(
    'select domain from creator_waiting where look_at <= now()',
  )
  expect(rows.map(({ domain }) => domain)).toEqual(['host-7.nobody.test'])
})
