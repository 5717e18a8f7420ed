import type { Address } from '@assay/protocol/address'
import { systemClock } from '@assay/till/kernel/clock'
import { createIds } from '@assay/till/kernel/ids'
import { systemRng } from '@assay/till/kernel/random'
import { balanceDifferences, credit, debit, owedTo, post, trialBalance } from '@assay/till/ledger'
import { createTokenMaker } from '@assay/till/signing'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { afterAll, expect, test } from 'vitest'
import { rewardAccounts } from './accounts.ts'
import { parseRewardsPolicy, type Reward } from './policy.ts'
import { createRedeemPoints, type RedemptionRequest } from './redeem-points.ts'

const db = await useTestDatabase({ poolSize: 20 })
afterAll(async () => {
  for (const sum of Object.values((await trialBalance(db.owner)).sumByUnit)) expect(sum).toBe(0n)
  expect(await balanceDifferences(db.owner)).toEqual([])
})

const policy = parseRewardsPolicy()
const pull = policy.rewards.find(({ id }) => id === 'pull') as Reward
const tokens = createTokenMaker(systemRng, 'apass')
/** As many processes would: each with its own queue. */
const openRedeem = () =>
  createRedeemPoints({
    database: db.database,
    clock: systemClock,
    ids: createIds(systemClock, systemRng),
    tokens,
    policy,
  })
const wallet = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const nonce = () => Buffer.from(systemRng.bytes(16)).toString('hex')
const request = (owner: Address, changes: Partial<RedemptionRequest> = {}): RedemptionRequest => {
  const own = nonce()
  return { nonce: own, requestHash: Buffer.alloc(32, own), wallet: owner, points: 1_000n, reward: pull, ...changes }
}
const give = (owner: Address, points: bigint) =>
  post(db.database, [
    {
      reference: `give:${nonce()}`,
      kind: 'points',
      lines: [debit(rewardAccounts.pointsIssued(), points), credit(rewardAccounts.points(owner), points)],
    },
  ])

test('L7: of 1,000 concurrent redemptions of a balance for two, in four processes, exactly two succeed', async () => {
  await give(wallet(7), 2_999n)
  const processes = [openRedeem(), openRedeem(), openRedeem(), openRedeem()]
  const outcomes = await Promise.all(
    Array.from({ length: 1_000 }, (_, n) => processes[n % 4]?.redeem(request(wallet(7)))),
  )
  expect(outcomes.filter((outcome) => outcome?.status === 'redeemed')).toHaveLength(2)
  expect(outcomes.filter((outcome) => outcome?.status === 'short')).toHaveLength(998)
  expect(await owedTo(db.database, rewardAccounts.points(wallet(7)))).toBe(999n)
})

test('L8, L9: one point too few is refused; the same request gets the first result, a changed one a conflict', async () => {
  await give(wallet(8), 1_999n)
  const redeem = openRedeem()
  expect((await redeem.redeem(request(wallet(8), { points: 2_000n }))).status).toBe('short')
  const first = request(wallet(8))
  const [one, two, three] = await Promise.all([redeem.redeem(first), redeem.redeem(first), openRedeem().redeem(first)])
  expect(two).toEqual(one)
  expect(three).toEqual(one)
  expect((await redeem.redeem({ ...first, requestHash: Buffer.alloc(32, 1) })).status).toBe('conflict')
  expect(await owedTo(db.database, rewardAccounts.points(wallet(8)))).toBe(999n)
  const { rows } = await db.database.query<{ n: bigint }>(`select count(*) as n from pass where wallet = $1`, [
    wallet(8),
  ])
  expect(rows[0]?.n).toBe(1n)
})
