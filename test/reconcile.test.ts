import { afterAll, expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import type { Address } from '../packages/protocol/src/address.ts'
import { demoAccount } from '../packages/till/src/devnet/index.ts'
import { creditOf, expectSoundBooks, paymentRows } from './harness/invariants.ts'
import { openReconciledTill } from './harness/reconciled-till.ts'
import { buy, echoPath, quote, signPayment } from './harness/till-fixture.ts'
import { submitAuthorization } from './harness/wallets.ts'

const world = await openReconciledTill({ jobs: true })
const till = world.till
afterAll(async () => {
  await expectSoundBooks(till)
  await till.close()
})

const reconcile = () => world.reconcile()
const payTo = () => till.node.config.payTo

test('books and chain agree after sales, and the cursor moves on', async () => {
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n, unexplained: 0 })
  const buyer = await till.newBuyer()
  for (let i = 0; i < 3; i += 1) expect((await buy(buyer, `${till.node.url}${echoPath}`)).status).toBe(200)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n, unexplained: 0 })
})

test('an authorization that nobody claimed is credited to its payer exactly once', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(`${till.node.url}${echoPath}`))
  await submitAuthorization(till.base, payload)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n, unexplained: 1 })
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n, unexplained: 0 })
  expect(await creditOf(till, buyer.address)).toBe(1_000n)
  expect(
    (await paymentRows(till)).filter((row) => row.payer === buyer.address.toLowerCase()).map((row) => row.state),
  ).toEqual(['credited'])
})

test('a plain transfer goes to review and into the books, and is credited to nobody', async () => {
  await world.transfer('creator', payTo(), 7_770n)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n, unexplained: 1 })
  const { rows } = await till.db.owner.query<{ sender: Address; amount_micro: bigint }>(
    `select sender, amount_micro from transfer where posted_as = 'review'`,
  )
  expect(rows).toEqual([{ sender: demoAccount('creator').address, amount_micro: 7_770n }])
  expect(await creditOf(till, demoAccount('creator').address)).toBe(0n)
})

test('the operator decides that a transfer in review is credit of its sender, once', async () => {
  const assay = async (...args: string[]) => {
    const env = { DATABASE_URL: till.db.databaseUrl, BASE_RPC_URLS: till.base.url, POLYGON_RPC_URLS: till.polygon.url }
    const terminal = createTestTerminal({ env })
    return { code: await runCli(['review', ...args, '--json'], terminal), out: terminal.stdout() }
  }
  const creator = demoAccount('creator').address
  await world.transfer('creator', payTo(), 8_880n)
  await reconcile()
  const listed = JSON.parse((await assay('list')).out) as { data: { id: string; amount_micro: string }[] }
  const id = listed.data.find(({ amount_micro }) => String(amount_micro) === '8880')?.id ?? ''
  expect(await assay('decide', id, '--credit', '--note', 'ticket 12')).toMatchObject({ code: 0 })
  expect(await assay('decide', id, '--revenue')).toMatchObject({ code: 3 })
  expect(await creditOf(till, creator)).toBe(8_880n)
  expect((await assay('list')).out).not.toContain('8880')
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n })
})

test('what the operator withdraws from PAY_TO is a withdrawal, no difference', async () => {
  await world.transfer('operator', demoAccount('creator').address, 5_000n)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n })
})

test('a posting without money is found and raises an alarm', async () => {
  world.alarms()
  const { accounts, post } = await import('../packages/till/src/ledger/index.ts')
  await till.db.database.transaction((tx) =>
    post(tx, [
      {
        reference: 'test:invented',
        kind: 'opening',
        lines: [
          { account: accounts.onchain('eip155:8453', 'pay_to'), amount: 123n },
          { account: accounts.revenue('eip155:8453', 'test'), amount: -123n },
        ],
      },
    ]),
  )
  expect(await reconcile()).toMatchObject({ differenceMicro: -123n })
  expect(world.alarms()).toBeGreaterThan(0)
})

test('a transfer that the endpoint reported twice is posted once; one that it withheld or made up is found at once', async () => {
  const before = (await reconcile())?.differenceMicro ?? 0n
  const pay = (micro: bigint) => world.transfer('creator', payTo(), micro)
  const openReviews = async () => {
    const { rows } = await till.db.owner.query<{ micro: bigint }>(
      `select amount_micro as micro from transfer where posted_as = 'review' order by seen_at, amount_micro`,
    )
    return rows.map(({ micro }) => micro)
  }
  world.alter((logs) => [...logs, ...logs])
  await pay(3_100n)
  expect(await reconcile()).toMatchObject({ differenceMicro: before })
  expect((await openReviews()).filter((micro) => micro === 3_100n)).toHaveLength(1)

  world.alarms()
  world.alter(() => [])
  await pay(5_300n)
  expect(await reconcile()).toMatchObject({ differenceMicro: before + 5_300n })
  expect(world.alarms()).toBeGreaterThan(0)

  // What a log says of an amount is not believed: the receipt counts.
  world.alter((logs) => logs.map((log) => ({ ...log, data: `0x${9_999n.toString(16).padStart(64, '0')}` })))
  await pay(7_100n)
  expect(await reconcile()).toMatchObject({ differenceMicro: before + 5_300n })
  expect((await openReviews()).filter((micro) => micro === 7_100n)).toHaveLength(1)
  world.alter((logs) => logs)
})

test('transfers of less than a thousandth without a claim are posted as a sum', async () => {
  const before = (await reconcile())?.differenceMicro ?? 0n
  for (const micro of [7n, 70n, 700n]) await world.transfer('creator', payTo(), micro)
  expect(await reconcile()).toMatchObject({ differenceMicro: before, unexplained: 0 })
  const { rows } = await till.db.owner.query(
    `select amount_micro as micro, posted_as as as, posted_for as count from transfer where amount_micro < 1000`,
  )
  expect(rows).toEqual([{ micro: 777n, as: 'dust', count: '3' }])
})
