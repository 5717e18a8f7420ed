import type { Address } from '@assay/protocol/address'
import { testKey } from '@assay/till/chain/wallet/wallet.fixture'
import { clients } from '@assay/till/devnet/test-chain.fixture'
import { sealBooks } from '@assay/till/ledger'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { blocksRead } from '../../../tlog/blocks-read.fixture.ts'
import { creatorDifferences, readCreatorBooks } from './check-books.ts'
import { type CreatorLife, caip2, custody, openCreatorWorld, terms } from './creator-life.fixture.ts'
import { describeCreator } from './describe-creator.ts'

/** `npm run promises -- --only stolen-custody-key --size asked` plays 200. */
const epochs = Number(process.env['DISTRIBUTOR_EPOCHS'] ?? 16)
const part = Math.floor(epochs / 4)
const [patient, ...others] = Array.from({ length: 8 }, (_, n) => testKey(`creator of many epochs ${n}`).address) as [
  Address,
  ...Address[],
]
const anybody = privateKeyToAccount(testKey('anybody who claims').privateKey)

const world = await openCreatorWorld()
const db = await useTestDatabase()
await world.devnet.control.fund(anybody.address.toLowerCase() as Address, { microUsdc: 0n })
afterAll(() => world?.devnet.stop())

type Cost = { gas: bigint; statements: number; blocks: number; calls: number }

/** One root with a leaf for each creator, from the sale to the final block; nobody claims. */
async function oneEpoch({ deps, run }: CreatorLife, at: number): Promise<Cost> {
  for (const wallet of [patient, ...others]) await world.sell(db, wallet, BigInt(100 + at))
  // As a node does from time to time.
  await sealBooks(db.database)
  await db.owner.query(
    `vacuum analyze creator_root, creator_leaf, creator_accrual, creator_balance, ledger_transaction, ledger_entry,
      ledger_account, ledger_balance, ledger_unsealed`,
  )
  let [statements, calls] = [0, 0]
  const asked = world.devnet.request
  const counted: CreatorDepsDatabase = {
    ...deps.database,
    query: ((...args: Parameters<CreatorDepsDatabase['query']>) => {
      statements += 1
      return deps.database.query(...args)
    }) as CreatorDepsDatabase['query'],
  }
  world.devnet.request = (...args) => {
    calls += 1
    return asked(...args)
  }
  // Follows the chain, signs the next root and sends it.
  const blocks = await blocksRead(counted, (database) => run(database))
  world.devnet.request = asked
  const transaction = async () => {
    const { rows } = await db.database.query<{ transaction: `0x${string}` }>(
      `select transaction from creator_root where epoch = $1 and state = 'committed'`,
      [at],
    )
    return rows[0]?.transaction
  }
  while ((await transaction()) === undefined) await run()
  const receipt = await clients(world.devnet).reader.getTransactionReceipt({
    hash: (await transaction()) as `0x${string}`,
  })
  return { gas: receipt.gasUsed, statements, blocks, calls }
}
type CreatorDepsDatabase = CreatorLife['deps']['database']

/** On a busy machine some epochs ask more often whether their transaction is in a block. */
const minOf = (costs: readonly Cost[], what: (cost: Cost) => number) => Math.min(...costs.map(what))

test('an epoch costs the same however many there were before, and the first can still be claimed', async () => {
  const { chain, devnet } = world
  await db.owner.query(
    `insert into creator_setting (wallet, threshold_micro, updated_at) select unnest($1::text[]), 1000000000, now()`,
    [[patient, ...others]],
  )
  const costs = await world.live(db, async (life) => {
    const seen: Cost[] = []
    for (let at = 1; at <= epochs; at += 1) seen.push(await oneEpoch(life, at))
    return seen
  })
  // The first ones write into storage and tables that are empty.
  const [early, late] = [costs.slice(2, 2 + part), costs.slice(-part)]
  for (const [what, of] of Object.entries({
    gas: (cost: Cost) => Number(cost.gas),
    statements: (cost: Cost) => cost.statements,
    blocks: (cost: Cost) => cost.blocks,
    calls: (cost: Cost) => cost.calls,
  })) {
    const [before, after] = [minOf(early, of), minOf(late, of)]
    expect(after / before, `${what} of an epoch: ${before}, then ${after}`).toBeLessThan(1.5)
  }
  const networks = [{ network: chain.network, custody: custody.address }]
  const given = { database: db.database, networks, terms, thresholdMicro: 1n, nowMs: () => Date.now() }
  const earned = Array.from({ length: epochs }, (_, n) => BigInt(101 + n)).reduce((sum, micro) => sum + micro, 0n)
  // With what the node shows, as often as it takes: it shows a hundred leaves at a time.
  await world.live(db, async ({ run }) => {
    for (let round = 0; round < Math.ceil(epochs / 100); round += 1) {
      const [shown] = (await describeCreator(given, patient)).chains
      for (const { to, data } of shown?.claims ?? [])
        await clients(devnet).wallet.sendTransaction({
          account: anybody,
          to: to as Address,
          data,
          gas: 15_000_000n,
        })
      await run()
    }
    await run()
  })
  expect(await chain.usdcBalance(patient)).toBe(earned)
  expect(creatorDifferences(await readCreatorBooks(db.database, caip2), [await world.onChain()])).toEqual({})
}, 600_000)
