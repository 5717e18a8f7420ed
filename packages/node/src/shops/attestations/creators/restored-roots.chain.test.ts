import { type Address, zeroAddress } from '@assay/protocol/address'
import { type ChainPort, createChain, createRpc, type Rpc } from '@assay/till/chain'
import { demoNetwork, devnetEndpoint, testHolder, testKey, testWallets } from '@assay/till/chain/wallet/wallet.fixture'
import { type Devnet, startDevnet } from '@assay/till/devnet'
import { systemClock } from '@assay/till/kernel/clock'
import { createIds } from '@assay/till/kernel/ids'
import { silentLog } from '@assay/till/kernel/log'
import { systemRng } from '@assay/till/kernel/random'
import { accounts, balanceDifferences, balanceOf, post, trialBalance } from '@assay/till/ledger'
import { createCustodyKey, type PayoutDeps, parsePayoutPolicy } from '@assay/till/payouts'
import { isRestoring, markReconciled } from '@assay/till/store/restore'
import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accrueShares, creatorReceivable, mergeLines } from './accrue.ts'
import { creatorDifferences, readCreatorBooks } from './check-books.ts'
import { distributorFor } from './contracts.ts'
import type { CreatorDeps } from './deps.ts'
import { readDistributor } from './read-distributor.ts'
import { runCreators } from './run-creators.ts'

const caip2 = 'eip155:8453'
const terms = { mover: zeroAddress, claimDelaySeconds: 0, moveDelaySeconds: 1 }
const custody = createCustodyKey(testKey('custody of roots').privateKey)
const settler = testKey('settler of roots')
const creators = [1, 2, 3, 4, 5].map((n) => testKey(`creator of roots ${n}`).address)
const [claimed, held, lost, kept, gone] = creators as [Address, Address, Address, Address, Address]
let devnet: Devnet
let chain: ChainPort
let rpc: Rpc
const dbs: TestDatabase[] = []

beforeAll(async () => {
  devnet = await startDevnet({ chainId: 8453, clock: systemClock, log: silentLog })
  await devnet.control.fund(custody.address, { microUsdc: 1_000_000n, wei: 0n })
  await devnet.control.fund(settler.address, { microUsdc: 0n })
  rpc = createRpc([devnetEndpoint(devnet)], { clock: systemClock })
  chain = createChain({
    network: demoNetwork(devnet),
    rpc,
    clock: systemClock,
    checkContractSignature: async () => 'invalid',
    headAgeMsMax: 0,
  })
})
afterAll(async () => {
  await Promise.all(dbs.map((db) => db.close()))
  await devnet?.stop()
})

let sales = 0
async function sell({ database }: TestDatabase, wallet: Address, micro: bigint): Promise<void> {
  sales += 1
  const paymentId = `pay_roots_${sales}`
  const payee = {
    domain: 'a.test',
    registrable: 'a.test',
    wallet,
    claimId: 'c',
    citeScore: null,
    synthetic: false,
    reason: 'proven' as const,
  }
  const sale = {
    paymentId,
    network: caip2,
    payer: custody.address,
    round: 0,
    source: 'credit' as const,
    settledAtMs: 0,
  }
  await database.transaction(async (tx) => {
    const lines = await accrueShares(tx, sale, `att_roots_${sales}`, [{ payee, micro, held: undefined }])
    const taken = { account: accounts.onchain(caip2, 'custody'), amount: micro }
    await post(tx, [
      { reference: `split:${paymentId}`, kind: 'opening', paymentId, lines: mergeLines([taken, ...lines]) },
    ])
  })
}

async function live<T>(db: TestDatabase, work: (life: { run(): Promise<void>; alarms: string[] }) => Promise<T>) {
  const holder = await testHolder(db.database)
  const wallets = testWallets({
    network: chain.network,
    endpoints: [devnetEndpoint(devnet)],
    database: db.database,
    holder,
    keys: [settler.privateKey],
  })
  const alarms: string[] = []
  const ports = {
    database: db.database,
    clock: systemClock,
    log: silentLog,
    metrics: {
      count: (_name: string, labels?: Record<string, string>) => {
        if (labels?.['alarm']) alarms.push(labels['alarm'])
      },
      gauge: () => {},
      observeMs: () => {},
    },
  }
  const payouts: PayoutDeps = {
    ...ports,
    ids: createIds(systemClock, systemRng),
    policy: parsePayoutPolicy(),
    chains: [{ chain, rpc, key: custody, wallets }],
    purposes: [],
    isPaused: async () => false,
  }
  const deps = {
    ...ports,
    settings: {
      rootMs: 0,
      rootMinimumMicro: 1n,
      leafMinimumMicro: 1n,
      leafWaitMs: 0,
      thresholdMicro: 1n,
      waitMs: 10 ** 12,
      releaseMs: 0,
    },
    terms,
    mover: undefined,
    challengeMs: 0,
    payees: { custody: { [caip2]: custody.address } },
    payouts: () => payouts,
  } as unknown as CreatorDeps
  try {
    return await work({ alarms, run: () => runCreators(deps) })
  } finally {
    await wallets.stop()
    await holder.die()
  }
}

const onChain = async () => {
  const { number } = await chain.finalizedBlock()
  const { address } = distributorFor(chain.network, custody.address, terms)
  return readDistributor(rpc, address, chain.network.usdc.address, number)
}
const epoch = async () => (await onChain())?.epoch

async function expectSoundBooks({ database }: TestDatabase): Promise<void> {
  expect(creatorDifferences(await readCreatorBooks(database, caip2), [await onChain()])).toEqual({})
  expect(await balanceDifferences(database)).toEqual([])
  const { sumByUnit } = await trialBalance(database)
  for (const sum of Object.values(sumByUnit)) expect(sum).toBe(0n)
}

test('creator roots cannot continue after a restore', async () => {
  const db = await openTestDatabase()
  dbs.push(db)
  // Those who shall not claim by themselves.
  for (const wallet of [held, kept, gone])
    await db.owner.query(
      `insert into creator_setting (wallet, threshold_micro, updated_at) values ($1, 1000000, now())`,
      [wallet],
    )
  await live(db, async ({ run }) => {
    await sell(db, claimed, 1_000n)
    await sell(db, held, 600n)
    for (let round = 0; round < 3; round += 1) await run()
    expect(await epoch()).toBe(1n)
    await sell(db, claimed, 500n)
    await sell(db, kept, 200n)
  })
  const copy = await db.copy()
  dbs.push(copy)
  await live(db, async ({ run }) => {
    for (let round = 0; round < 3; round += 1) await run()
    await sell(db, lost, 300n)
    await sell(db, gone, 90n)
    for (let round = 0; round < 4; round += 1) await run()
    expect(await onChain()).toMatchObject({ epoch: 3n, totalMicro: 2_690n, claimedMicro: 1_800n })
    await expectSoundBooks(db)
  })

  await live(copy, async ({ run, alarms }) => {
    await run()
    expect(alarms).toEqual(['restored'])
    expect(await isRestoring(copy.database, caip2)).toBe(true)
    await expectSoundBooks(copy)
    await run()
    expect(await epoch()).toBe(3n)
    // Paid for a share that the books no longer know.
    expect(await balanceOf(copy.database, creatorReceivable(caip2, lost))).toBe(300n)
    await markReconciled(copy.database, caip2, 10n ** 9n)
    await sell(copy, held, 50n)
    for (let round = 0; round < 3; round += 1) await run()
    // What the lost roots allotted is in the books by their leaves: the next one has nothing but what is new.
    expect(await onChain()).toMatchObject({ epoch: 4n, totalMicro: 2_740n })
    await expectSoundBooks(copy)
    await sell(copy, held, 100n)
    await sell(copy, lost, 310n)
    for (let round = 0; round < 3; round += 1) await run()
    expect(await onChain()).toMatchObject({ epoch: 5n, totalMicro: 2_850n })
    await expectSoundBooks(copy)
    expect(await balanceOf(copy.database, creatorReceivable(caip2, lost))).toBe(0n)
    // A creator whom the backup did not know is paid from the leaf that the chain has.
    await copy.owner.query('delete from creator_setting where wallet = $1', [gone])
    for (let round = 0; round < 2; round += 1) await run()
    expect(await chain.usdcBalance(gone)).toBe(90n)
    expect(await chain.usdcBalance(lost)).toBe(310n)
    expect(await chain.usdcBalance(claimed)).toBe(1_500n)
    expect(alarms).toEqual(['restored'])
    const sent = (await onChain())?.totalMicro ?? 0n
    expect(await chain.usdcBalance(custody.address)).toBe(1_000_000n - sent)
  })
}, 90_000)
