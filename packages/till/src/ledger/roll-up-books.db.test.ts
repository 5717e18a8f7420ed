import { expect, test } from 'vitest'
import { rowsRead } from '../store/rows-read.fixture.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { externalAccount } from './accounts.fixture.ts'
import {
  accounts,
  balanceOf,
  booksByGroup,
  checkBalances,
  credit,
  debit,
  foundDifferences,
  type LedgerTransaction,
  openClearing,
  openClearingSinceRollup,
  post,
  sealBooks,
  trialBalance,
  turnoverByDay,
} from './index.ts'

const base = 'eip155:8453'
const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as const

const db = await useTestDatabase()

const topUp = (reference: string, payer: number, micro: bigint): LedgerTransaction => ({
  reference,
  kind: 'topup',
  lines: [debit(externalAccount(base), micro), credit(accounts.credit(base, wallet(payer)), micro)],
})
const settle = (reference: string, micro: bigint, paymentId: string): LedgerTransaction => ({
  reference,
  kind: 'settlement',
  paymentId,
  lines: [debit(accounts.clearingPayments(base), micro), credit(accounts.revenue(base, 'match'), micro)],
})
const cleared = (reference: string, micro: bigint, paymentId: string): LedgerTransaction => ({
  reference,
  kind: 'cleared',
  paymentId,
  lines: [debit(externalAccount(base), micro), credit(accounts.clearingPayments(base), micro)],
})

/** The same as the slow readers say, group by group. */
async function expectSameAsEntries(): Promise<void> {
  const { rows } = await trialBalance(db.database)
  const sums = new Map<string, bigint>()
  for (const { name, kind, unit, balanceMicro } of rows) {
    const key = `${name.split('@')[0]?.split(':')[0]} ${kind} ${unit}`
    sums.set(key, (sums.get(key) ?? 0n) + balanceMicro)
  }
  const groups = await booksByGroup(db.database)
  expect(
    new Map(groups.map(({ group, kind, unit, balanceMicro }) => [`${group} ${kind} ${unit}`, balanceMicro])),
  ).toEqual(sums)
  const { rows: sealed } = await db.database.query('select from books_rollup_account')
  expect(groups.reduce((sum, { accounts }) => sum + accounts, 0)).toBe(sealed.length)
  expect(await openClearingSinceRollup(db.database, 100)).toEqual(await openClearing(db.database, 100))
}

test('the rollup and what came since give what all entries give, before, between and after a rollup', async () => {
  await expectSameAsEntries()
  await post(db.database, [topUp('a', 1, 5n), topUp('b', 2, 7n), settle('c', 11n, 'pay_1'), settle('d', 13n, 'pay_2')])
  await expectSameAsEntries()
  await sealBooks(db.database)
  await expectSameAsEntries()
  await post(db.database, [topUp('e', 1, 100n), cleared('f', 11n, 'pay_1')])
  await expectSameAsEntries()
  expect(await openClearingSinceRollup(db.database, 100)).toMatchObject([{ paymentId: 'pay_2', balanceMicro: 13n }])
  await sealBooks(db.database)
  await expectSameAsEntries()
  const { rows } = await db.database.query('select payment_id from books_rollup_clearing')
  expect(rows).toEqual([{ payment_id: 'pay_2' }])
})

test('a posting still open while others are rolled up is not lost', async () => {
  const open = await db.database.transaction(async (tx) => {
    await post(tx, [topUp('open', 3, 50n)])
    // Another connection posts and rolls up meanwhile.
    await post(db.owner, [topUp('meanwhile', 4, 60n)])
    await sealBooks(db.owner)
    return 'committed'
  })
  expect(open).toBe('committed')
  await expectSameAsEntries()
  await sealBooks(db.database)
  await expectSameAsEntries()
})

test('an account is summed from the last seal and what came since', async () => {
  const account = accounts.revenue(base, 'match')
  const before = await balanceOf(db.database, account)
  await post(db.database, [settle('sum:1', 3n, 'pay_8')])
  expect(await balanceOf(db.database, account)).toBe(before - 3n)
  await sealBooks(db.database)
  await post(db.database, [settle('sum:2', 4n, 'pay_8')])
  expect(await balanceOf(db.database, account)).toBe(before - 7n)
  await expectSameAsEntries()
})

test('a kept balance that differs from its entries is counted, wherever its entries lie', async () => {
  await checkBalances(db.database, Date.now())
  expect(await foundDifferences(db.database)).toBe(0)
  await db.owner.query(
    `update ledger_balance set owed_micro = owed_micro + 1
     where account_id = (select id from ledger_account where name = $1)`,
    [accounts.credit(base, wallet(2)).name],
  )
  await checkBalances(db.database, Date.now())
  expect(await foundDifferences(db.database)).toBe(1)
})

test('open clearing and turnover look accounts up, however many there are', async () => {
  await db.owner.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    await tx.query(
      `insert into ledger_account (name, kind, unit, guarded)
       select 'payable:refund:0x' || lpad(to_hex(n), 40, '0') || '@eip155:10', 'liability', 'eip155:10/usdc', true
       from generate_series(1, 20000) n`,
    )
  })
  // What was analyzed while much was waiting for a seal is planned for as much.
  await db.owner.query('insert into ledger_unsealed select -n from generate_series(1, 5000) n')
  await db.owner.query('vacuum analyze ledger_account, ledger_unsealed')
  await db.owner.query('delete from ledger_unsealed where transaction_id < 0')
  const read = await rowsRead(db.database, async (database) => {
    await openClearingSinceRollup(database, 20)
    await turnoverByDay(database, '2026-01-01', '2026-12-31')
  })
  expect(read).toBeLessThan(5_000)
})
