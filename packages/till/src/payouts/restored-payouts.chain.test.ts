import type { Address } from '@assay/protocol/address'
import { afterAll, expect, test } from 'vitest'
import { createRpc } from '../chain/index.ts'
import {
  alarmsInto,
  demoNetwork,
  devnetEndpoint,
  testChain,
  testHolder,
  testKey,
  testWallets,
} from '../chain/wallet/wallet.fixture.ts'
import { startDevnet } from '../devnet/index.ts'
import { fromHex } from '../kernel/bytes.ts'
import { systemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { silentLog } from '../kernel/log.ts'
import { systemRng } from '../kernel/random.ts'
import { accounts, balanceOf, credit, debit, owedTo, post, trialBalance } from '../ledger/index.ts'
import type { Database } from '../store/database.ts'
import { isRestoring, markReconciled } from '../store/restore.ts'
import { openTestDatabase, type TestDatabase } from '../store/testing.ts'
import { createCustodyKey } from './custody-key.ts'
import {
  createPayout,
  explainPayout,
  listWithdrawals,
  type PayoutDeps,
  parsePayoutPolicy,
  refundAccount,
  requestWithdrawal,
  runPayouts,
  runWithdrawals,
} from './index.ts'

/** As the shop does that pays them, where it is there. */
const declareAffiliates = `insert into ledger_purpose (purpose, backed_by, paid_out) values ('affiliate', 'operator', true)
  on conflict do nothing`

const network = 'eip155:8453'
const usd = 1_000_000n
const ids = createIds(systemClock, systemRng)
const custody = createCustodyKey(testKey('custody of a restore').privateKey)
const settler = testKey('settler of a restore')
const payees = [1, 2, 3, 4].map((n) => testKey(`payee of a restore ${n}`).address)
const [first, second, third, buyer] = payees as [Address, Address, Address, Address]
const dbs: TestDatabase[] = []

const devnet = await startDevnet({ chainId: 8453, clock: systemClock, log: silentLog })
await devnet.control.fund(custody.address, { microUsdc: 1_000n * usd, wei: 0n })
await devnet.control.fund(settler.address, { microUsdc: 0n })
const rpc = createRpc([devnetEndpoint(devnet)], { clock: systemClock })
const chain = testChain(demoNetwork(devnet), rpc)
const startBlock = (await chain.head()).number
afterAll(async () => {
  await Promise.all(dbs.map((db) => db.close()))
  await devnet?.stop()
})

/** A node's payouts on one database, for as long as the work takes: a copy needs the database without connections. */
async function live<T>(db: TestDatabase, work: (life: Life) => Promise<T>): Promise<T> {
  const holder = await testHolder(db.database)
  const endpoints = [devnetEndpoint(devnet)]
  const wallets = testWallets({
    network: chain.network,
    endpoints,
    database: db.database,
    holder,
    keys: [settler.privateKey],
  })
  const alarms: string[] = []
  const deps: PayoutDeps = {
    database: db.database,
    clock: systemClock,
    ids,
    log: silentLog,
    metrics: alarmsInto(alarms),
    policy: parsePayoutPolicy(),
    chains: [{ chain, rpc, key: custody, wallets }],
    purposes: [{ purpose: 'affiliate' }, { purpose: 'credit_refund', minimumMicro: 1n }],
    isPaused: async () => false,
  }
  try {
    return await work({ deps, alarms, run: () => runPayouts(deps) })
  } finally {
    await wallets.stop()
    await holder.die()
  }
}
type Life = { deps: PayoutDeps; alarms: string[]; run(): Promise<void> }

async function owe(database: Database, payee: Address, micro: bigint): Promise<void> {
  await post(database, [
    {
      reference: `owe:${ids.next('t')}`,
      kind: 'opening',
      lines: [
        debit(accounts.onchain(network, 'custody'), micro),
        credit(accounts.payable(network, payee, 'affiliate'), micro),
      ],
    },
  ])
}

/** What the wallet held before the books began is the operator's, as reconciliation books it. */
const stake = (database: Database, micro: bigint) =>
  post(database, [
    {
      reference: 'opening of custody',
      kind: 'opening',
      lines: [debit(accounts.onchain(network, 'custody'), micro), credit(accounts.operator(network, 'usdc'), micro)],
    },
  ])

async function refund(database: Database, paid: { payer: Address; paymentKey: `0x${string}` }, micro: bigint) {
  return database.transaction((tx) =>
    createPayout(tx, {
      id: ids.next('po'),
      network,
      payee: paid.payer,
      amountMicro: micro,
      purpose: 'refund',
      account: refundAccount(paid),
      from: [{ account: accounts.revenue(network, 'report'), amount: micro }],
      approved: true,
      nowMs: systemClock.nowMs(),
    }),
  )
}

/** As reconciliation does it: every transfer out of custody that has no row is explained. */
async function reconcile(deps: PayoutDeps): Promise<string[]> {
  const final = await chain.finalizedBlock()
  const outcomes: string[] = []
  for (const log of await chain.transferLogs(custody.address, startBlock, final.number))
    for (const transfer of await chain.transfersIn(log.transaction)) {
      if (transfer.logIndex !== log.logIndex || transfer.sender !== custody.address) continue
      const known = await deps.database.query(`select from transfer where transaction = $1 and position = $2`, [
        fromHex(transfer.transaction),
        transfer.position,
      ])
      if (known.rowCount === 0) outcomes.push(await explainPayout(deps, chain, transfer))
    }
  // A block may have been made since: the gap that was found just now reaches up to it.
  await markReconciled(deps.database, network, (await chain.finalizedBlock()).number)
  return outcomes
}

const received = (payee: Address) => chain.usdcBalance(payee)

test('restore pays payouts twice', async () => {
  const db = await openTestDatabase()
  await db.owner.query(declareAffiliates)
  dbs.push(db)
  await stake(db.database, 100n * usd)
  const paid = { payer: buyer, paymentKey: `0x${'ab'.repeat(32)}` as const }
  await live(db, async ({ run }) => {
    for (const payee of [first, second]) await owe(db.database, payee, 20n * usd)
    await run()
    // Owed when the backup is taken, paid afterwards.
    await owe(db.database, first, 15n * usd)
  })
  const copy = await db.copy()
  dbs.push(copy)
  await live(db, async ({ run }) => {
    await run()
    await refund(db.database, paid, 5n * usd)
    for (const payee of [first, third]) await owe(db.database, payee, 12n * usd)
    await run()
  })
  const sent = [47n * usd, 20n * usd, 12n * usd, 5n * usd]
  expect(await Promise.all(payees.map(received))).toEqual(sent)

  await live(copy, async ({ deps, alarms, run }) => {
    await refund(copy.database, paid, 5n * usd)
    await run()
    await run()
    expect(alarms).toEqual(['restored'])
    expect(await isRestoring(copy.database, network)).toBe(true)
    expect(await Promise.all(payees.map(received))).toEqual(sent)
    expect(await reconcile(deps)).toEqual(['posted', 'posted'])
    expect(await isRestoring(copy.database, network)).toBe(false)
    await run()
    expect(await Promise.all(payees.map(received))).toEqual(sent)
    // Books equal chain: what was put there at the start, less all that left.
    const out = 1_000n * usd - (await chain.usdcBalance(custody.address))
    expect(await balanceOf(copy.database, accounts.onchain(network, 'custody'))).toBe(155n * usd - out)
    expect(await owedTo(copy.database, accounts.payable(network, first, 'affiliate'))).toBe(0n)
    // What the books had lost is the payee's debt, and comes off the next payout.
    expect(await balanceOf(copy.database, accounts.receivable(network, first, 'affiliate'))).toBe(12n * usd)
    await owe(copy.database, first, 40n * usd)
    await run()
    expect(await received(first)).toBe(75n * usd)
    const { rows } = await copy.database.query<{ n: bigint }>(
      `select n from payout where account = $1 and state = 'paid' order by n`,
      [first],
    )
    expect(rows.map(({ n }) => n)).toEqual([0n, 1n, 2n, 3n])
    const { sumByUnit } = await trialBalance(copy.database)
    for (const sum of Object.values(sumByUnit)) expect(sum).toBe(0n)
  })
}, 60_000)

test('a refund that the chain shows as paid is settled with what the buyer got, never paid again', async () => {
  const db = await openTestDatabase()
  await db.owner.query(declareAffiliates)
  dbs.push(db)
  const payer = testKey('payer of a restore').address
  const paid = { payer, paymentKey: `0x${'cd'.repeat(32)}` as const }
  await db.owner.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id,
       resource, fingerprint, revocable, owner, lease_until, claimed_at, head_block, final)
     values ('exact', 5000000, 'pay_restored', 'served', $1::text, $1::text || '/erc20:0xa', $2, decode(repeat('cd', 32), 'hex'), $2, 'custody', 5000000, 0, 'report', '',
       sha256('x'), true, 0, now(), now(), 1, true)`,
    [network, payer],
  )
  const copy = await db.copy()
  dbs.push(copy)
  await live(db, async ({ run }) => {
    await owe(db.database, second, 10n * usd)
    await refund(db.database, paid, 5n * usd)
    await run()
    expect(await received(payer)).toBe(5n * usd)
  })
  await live(copy, async ({ deps, run }) => {
    await reconcile(deps)
    expect(await balanceOf(copy.database, accounts.receivable(network, payer, 'refund'))).toBe(5n * usd)
    expect(await refund(copy.database, paid, 5n * usd)).toMatchObject({ status: 'paid_before' })
    await run()
    expect(await balanceOf(copy.database, accounts.receivable(network, payer, 'refund'))).toBe(0n)
    expect(await received(payer)).toBe(5n * usd)
  })
}, 60_000)

test('a restored data folder was not noticed, although the chain showed a payout that the books had lost', async () => {
  const db = await openTestDatabase()
  await db.owner.query(declareAffiliates)
  dbs.push(db)
  const copy = await db.copy()
  dbs.push(copy)
  await live(db, async ({ run }) => {
    await owe(db.database, testKey('payee that was lost').address, 10n * usd)
    await run()
  })
  await live(copy, async ({ deps, alarms }) => {
    const [log] = await chain.transferLogs(
      testKey('payee that was lost').address,
      startBlock,
      (await chain.head()).number,
    )
    const [transfer] = await chain.transfersIn(log?.transaction as `0x${string}`)
    expect(await explainPayout(deps, chain, transfer as NonNullable<typeof transfer>)).toBe('posted')
    expect(alarms).toEqual(['restored'])
    expect(await isRestoring(copy.database, network)).toBe(true)
  })
}, 60_000)

test('a restored backup does not withdraw twice', async () => {
  const db = await openTestDatabase()
  dbs.push(db)
  const to = testKey('operator of a restore').address
  const held = await chain.usdcBalance(custody.address)
  await stake(db.database, held)
  const withdrawals = { destinations: [{ network, address: to }], minimumMicro: usd, everyMs: 3_600_000 }
  const purposes = [{ purpose: 'withdrawal', minimumMicro: 1n }]
  const round = async (deps: PayoutDeps) => {
    await deps.database.query(`update custody_status set checked_at = 'epoch'`)
    await runWithdrawals({ ...deps, withdrawals })
    await runPayouts({ ...deps, purposes })
  }
  await live(db, async ({ deps }) => {
    const asked = await requestWithdrawal(deps, withdrawals, { network, payee: to, amountMicro: 30n * usd, by: 'test' })
    expect(asked.status).toBe('asked')
  })
  const asked = await db.copy()
  dbs.push(asked)
  await live(db, ({ deps }) => round(deps))
  expect(await received(to)).toBe(30n * usd)
  await live(asked, async ({ deps, alarms }) => {
    // The request is there, its payout is not: the nonce it would use has been used.
    await round(deps)
    await round(deps)
    expect(await received(to)).toBe(30n * usd)
    expect(alarms).toEqual(['restored'])
    await reconcile({ ...deps, purposes })
    await round(deps)
    expect(await received(to)).toBe(30n * usd)
    expect(await balanceOf(asked.database, accounts.onchain(network, 'custody'))).toBe(held - 30n * usd)
    expect(await listWithdrawals(asked.database, { limit: 9 })).toMatchObject([{ payout: { state: 'paid' } }])
  })
}, 60_000)

test('a withdrawal that the books have lost is the operator’s, and its request is done', async () => {
  const db = await openTestDatabase()
  dbs.push(db)
  const to = testKey('operator of another restore').address
  const held = await chain.usdcBalance(custody.address)
  await stake(db.database, held)
  const withdrawals = { destinations: [{ network, address: to }], minimumMicro: usd }
  const purposes = [{ purpose: 'withdrawal', minimumMicro: 1n }]
  const round = async (deps: PayoutDeps) => {
    await runWithdrawals({ ...deps, withdrawals })
    await runPayouts({ ...deps, purposes })
  }
  const ask = (deps: PayoutDeps) =>
    requestWithdrawal(deps, withdrawals, { network, payee: to, amountMicro: 10n * usd, by: 'test' })
  await live(db, async ({ deps }) => void (await ask(deps)))
  const copy = await db.copy()
  dbs.push(copy)
  await live(db, ({ deps }) => round(deps))
  await live(copy, async ({ deps }) => {
    // Reconciliation comes first and finds a transfer without a payout.
    expect(await reconcile({ ...deps, purposes })).toContain('posted')
    await round(deps)
    await round(deps)
    expect(await received(to)).toBe(10n * usd)
    expect(await listWithdrawals(copy.database, { limit: 9 })).toMatchObject([
      { state: 'paying', outcome: 'paid_before', payout: { state: 'paid', amountMicro: 10n * usd } },
    ])
    expect(await balanceOf(copy.database, accounts.operator(network, 'usdc'))).toBe(10n * usd - held)
    expect(await balanceOf(copy.database, accounts.onchain(network, 'custody'))).toBe(held - 10n * usd)
  })
}, 60_000)

test('n of a payout is never lowered, and one account has one open payout', async () => {
  const [db] = dbs as [TestDatabase]
  await expect(db.owner.query(`update payout set spent = false where state = 'paid'`)).rejects.toThrow('never lowered')
  await expect(db.owner.query(`update payout set n = 0 where n = 1`)).rejects.toThrow('never lowered')
  const make = () =>
    db.database.transaction((tx) =>
      createPayout(tx, {
        id: ids.next('po'),
        network,
        payee: third,
        amountMicro: 1n,
        purpose: 'option',
        from: [{ account: accounts.revenue(network, 'report'), amount: 1n }],
        approved: false,
        nowMs: systemClock.nowMs(),
      }),
    )
  const outcomes = await Promise.all([make(), make(), make()])
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['created', 'open', 'open'])
})
