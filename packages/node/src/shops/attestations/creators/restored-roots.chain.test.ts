import type { Address } from '@assay/protocol/address'
import { testKey } from '@assay/till/chain/wallet/wallet.fixture'
import { balanceDifferences, balanceOf, trialBalance } from '@assay/till/ledger'
import { isRestoring, markReconciled } from '@assay/till/store/restore'
import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { afterAll, expect, test } from 'vitest'
import { creatorReceivable } from './accrue.ts'
import { creatorDifferences, readCreatorBooks } from './check-books.ts'
import { caip2, custody, openCreatorWorld } from './creator-life.fixture.ts'

const creators = [1, 2, 3, 4, 5].map((n) => testKey(`creator of roots ${n}`).address)
const [claimed, held, lost, kept, gone] = creators as [Address, Address, Address, Address, Address]
const dbs: TestDatabase[] = []

const world = await openCreatorWorld()
afterAll(async () => {
  await Promise.all(dbs.map((db) => db.close()))
  await world?.devnet.stop()
})

const epoch = async () => (await world.onChain())?.epoch

async function expectSoundBooks({ database }: TestDatabase): Promise<void> {
  expect(creatorDifferences(await readCreatorBooks(database, caip2), [await world.onChain()])).toEqual({})
  expect(await balanceDifferences(database)).toEqual([])
  const { sumByUnit } = await trialBalance(database)
  for (const sum of Object.values(sumByUnit)) expect(sum).toBe(0n)
}

test('creator roots cannot continue after a restore', async () => {
  const { chain, live, onChain, sell } = world
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
