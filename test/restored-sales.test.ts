import type { PrivateKeyAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunningNode } from '../packages/node/src/node.ts'
import type { TestDatabase } from '../packages/till/src/store/testing.ts'
import { expectAnswer } from './harness/adversary-till.ts'
import { creditOf } from './harness/invariants.ts'
import { createJobsByHand } from './harness/jobs-by-hand.ts'
import { buy, echoPath, openTill, quote, send, signPayment, type TillFixture } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { authorizationOf, submitAuthorization } from './harness/wallets.ts'

/** What was sold after the backup that a node is restored from, on a chain that then takes blocks back. */
let till: TillFixture
let backup: TestDatabase
let running: Life
const lag = 20

type Life = { node: RunningNode; url: string; run: (...names: string[]) => Promise<void> }

beforeEach(async () => {
  till = await openTill({ ownShops: 'till', jobs: false })
  till.base.control.setFinalityLag(lag)
  await till.base.control.mine(lag + 1)
  expect((await buy(await till.newBuyer(), `${till.node.url}${echoPath}`)).status).toBe(200)
  await till.node.stop()
  running = await start(till.db)
  await running.run('payments.reconcile')
})
afterEach(async () => {
  await till.close()
  await backup.close()
})

async function start({ databaseUrl }: Pick<TestDatabase, 'databaseUrl'>): Promise<Life> {
  const jobs = createJobsByHand()
  const node = await till.startAnother({ databaseUrl, intercept: { job: jobs.intercept } })
  running = { node, url: `${node.url}${echoPath}`, run: (...names) => jobs.run(names) }
  return running
}

async function takeBackup(): Promise<Life> {
  await running.node.stop()
  backup = await till.db.copy()
  return start(till.db)
}

/** A node begins with the backup; it finds that its server is not the one that was noted. */
async function restore(): Promise<Life> {
  await running.node.stop()
  await backup.owner.query(`update instance set system_identifier = '1'`)
  const life = await start(backup)
  const { rows } = await backup.owner.query(`select from restore_gap where network = 'eip155:8453'`)
  expect(rows).toHaveLength(1)
  return life
}

/** Everything that was sent is in a final block, and the books have seen it. */
async function rest({ run }: Life): Promise<void> {
  await till.base.control.mine(1)
  const { number } = till.base.control.head()
  await till.base.control.mine(lag + 1)
  await until('the books are compared with that block', async () => {
    await run('payments.recover', 'payments.reconcile')
    const { rows } = await backup.owner.query<{ block: bigint }>(
      `select min(block_number) as block from reconcile_cursor where network = 'eip155:8453'`,
    )
    return rows[0] !== undefined && rows[0].block >= BigInt(number) ? true : undefined
  })
  await run('payments.recover', 'payments.reconcile')
}

/** The claim as it was before its answer was given. */
async function claimInBackup(payer: PrivateKeyAccount, as: { state: string; head_block?: number }): Promise<void> {
  const { rows } = await till.db.owner.query<{ row: unknown }>(
    `select to_jsonb(p) || jsonb_build_object('transaction', null, 'block_number', null, 'block_hash', null, 'log_position', null,
       'settled_at', null, 'ended_at', null, 'delivered_at', null) || $2 as row from payment p where payer = $1`,
    [payer.address.toLowerCase(), JSON.stringify(as)],
  )
  const { rows: columns } = await backup.owner.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = 'payment'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
  )
  const names = columns.map(({ name }) => name).join()
  await backup.owner.query(
    `insert into payment (${names}) select ${names} from jsonb_populate_record(null::payment, $1)`,
    [JSON.stringify(rows[0]?.row)],
  )
  await backup.owner.query(
    `insert into claim (payer, network, payment_key, payment_id, identifier_hash)
     select payer, network, payment_key, id, identifier_hash from payment where payer = $1`,
    [payer.address.toLowerCase()],
  )
}

async function postedOf(payer: PrivateKeyAccount): Promise<(string | null)[]> {
  const { rows } = await backup.owner.query<{ as: string | null }>(
    `select posted_as as "as" from transfer where sender = $1 order by id`,
    [payer.address.toLowerCase()],
  )
  return rows.map((row) => row.as)
}

test('a payment sold after the backup, reorganised and included again after the restore, is not credited as well', async () => {
  const buyer = await till.newBuyer()
  // What the buyer has is not revoked with its payment.
  await till.base.control.mine(2)
  const before = await takeBackup()
  const payload = await signPayment(buyer, await quote(before.url))
  expect((await send(before.url, payload)).status).toBe(200)
  const after = await restore()
  await till.base.control.reorg(2, { transactions: 'drop' })
  await till.base.control.mine(5)
  await submitAuthorization(till.base, authorizationOf(payload))
  await rest(after)
  expect([await postedOf(buyer), await creditOf({ db: backup }, buyer.address)]).toEqual([['gap'], 0n])

  // No authorization of before the restore is valid any more: what nobody claimed is its payer's credit again.
  till.base.control.advanceTime(700)
  await rest(after)
  const late = await till.newBuyer()
  const validBefore = BigInt(till.base.control.head().timestamp + 3_600)
  const unclaimed = await signPayment(late, await quote(after.url), { validBefore })
  await submitAuthorization(till.base, authorizationOf(unclaimed))
  await rest(after)
  expect([await postedOf(late), await creditOf({ db: backup }, late.address)]).toEqual([['payment'], 1_000n])
})

test('a payment that was settling in the backup and sold after it is not credited where a reorganisation put it below its claim', async () => {
  const buyer = await till.newBuyer()
  const before = await takeBackup()
  const payload = await signPayment(buyer, await quote(before.url))
  expect((await send(before.url, payload)).status).toBe(200)
  // Claimed at a block that is taken away.
  await claimInBackup(buyer, { state: 'unknown', head_block: till.base.control.head().number + 3 })
  const after = await restore()
  await rest(after)
  expect([await postedOf(buyer), await creditOf({ db: backup }, buyer.address)]).toEqual([['gap'], 0n])
  const { rows: payments } = await backup.owner.query(`select state, reason, final from payment where payer = $1`, [
    buyer.address.toLowerCase(),
  ])
  expect(payments).toEqual([{ state: 'failed', reason: 'paid_otherwise', final: true }])
})

test('a payment sold after the backup and presented again to the restored node is neither sold nor credited again', async () => {
  const buyer = await till.newBuyer()
  const before = await takeBackup()
  const payload = await signPayment(buyer, await quote(before.url), { resource: undefined })
  expect((await send(before.url, payload)).status).toBe(200)
  await till.base.control.mine(lag + 1)
  const after = await restore()
  await expectAnswer(await send(after.url, payload), 409, 'payment_credited')
  await rest(after)
  expect([await postedOf(buyer), await creditOf({ db: backup }, buyer.address)]).toEqual([['gap'], 0n])
})

test('a payment that was released in the backup and sold after it is not credited to its claim', async () => {
  const buyer = await till.newBuyer()
  const before = await takeBackup()
  const payload = await signPayment(buyer, await quote(before.url))
  expect((await send(before.url, payload)).status).toBe(200)
  await claimInBackup(buyer, { state: 'released' })
  const after = await restore()
  await rest(after)
  expect([await postedOf(buyer), await creditOf({ db: backup }, buyer.address)]).toEqual([['gap'], 0n])
})
