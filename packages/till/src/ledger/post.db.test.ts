import { microMax } from '@assay/protocol/money'
import { expect, test } from 'vitest'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { externalAccount } from './accounts.fixture.ts'
import {
  accounts,
  balanceDifferences,
  balanceOf,
  credit,
  debit,
  entriesOf,
  InsufficientBalance,
  LedgerConflict,
  LedgerRefused,
  type LedgerTransaction,
  openClearing,
  owedTo,
  post,
  reverse,
  trialBalance,
} from './index.ts'

const base = 'eip155:8453'
const polygon = 'eip155:137'
const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as const

const db = await useTestDatabase({ poolSize: 20 })

const topUp = (reference: string, payer: number, micro: bigint, network = base): LedgerTransaction => ({
  reference,
  kind: 'topup',
  lines: [debit(externalAccount(network), micro), credit(accounts.credit(network, wallet(payer)), micro)],
})
const spend = (reference: string, payer: number, micro: bigint): LedgerTransaction => ({
  reference,
  kind: 'spend',
  lines: [debit(accounts.credit(base, wallet(payer)), micro), credit(accounts.revenue(base, 'tokens.report'), micro)],
})

test('a batch is posted in the order given, and accounts come into being with their first entry', async () => {
  const outcomes = await post(db.database, [topUp('order:z', 1, 5n), topUp('order:a', 1, 7n), topUp('order:m', 2, 1n)])
  expect(outcomes.map(({ reference, status }) => [reference, status])).toEqual([
    ['order:z', 'posted'],
    ['order:a', 'posted'],
    ['order:m', 'posted'],
  ])
  expect(await owedTo(db.database, accounts.credit(base, wallet(1)))).toBe(12n)
  const [newest] = await entriesOf(db.database, accounts.credit(base, wallet(2)), { limit: 1 })
  expect(newest).toMatchObject({ reference: 'order:m', amountMicro: -1n })
})

test('L9: the same reference twice is posted once; with another amount it is refused and nothing is posted', async () => {
  const first = await post(db.database, [topUp('l9:a', 9, 100n)])
  const again = await post(db.database, [topUp('l9:a', 9, 100n), topUp('l9:b', 9, 1n), topUp('l9:b', 9, 1n)])
  expect(again.map(({ status }) => status)).toEqual(['already', 'posted', 'already'])
  expect(again[0]?.transactionId).toBe(first[0]?.transactionId)
  await expect(post(db.database, [topUp('l9:c', 9, 5n), topUp('l9:a', 9, 101n)])).rejects.toThrow(LedgerConflict)
  await expect(post(db.database, [{ ...topUp('l9:a', 9, 100n), paymentId: 'pay_x' }])).rejects.toThrow(LedgerConflict)
  expect(await owedTo(db.database, accounts.credit(base, wallet(9)))).toBe(101n)
})

test('L8: spending one micro more than there is is refused and changes nothing', async () => {
  await post(db.database, [topUp('l8:in', 8, 1_000n)])
  await expect(post(db.database, [spend('l8:out', 8, 1_001n)])).rejects.toThrow(InsufficientBalance)
  expect(await owedTo(db.database, accounts.credit(base, wallet(8)))).toBe(1_000n)
  await post(db.database, [spend('l8:all', 8, 1_000n)])
  expect(await balanceOf(db.database, accounts.credit(base, wallet(8)))).toBe(0n)
})

test('L7: of 200 concurrent redemptions of a balance that holds two, exactly two succeed', async () => {
  await post(db.database, [topUp('l7:in', 7, 1_000_000n)])
  const outcomes = await Promise.allSettled(
    Array.from({ length: 200 }, (_, n) => post(db.database, [spend(`l7:${n}`, 7, 400_000n)])),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(InsufficientBalance)
  }
  expect(await owedTo(db.database, accounts.credit(base, wallet(7)))).toBe(200_000n)
})

test('L4: amounts that are no positive integers within range never reach the database', async () => {
  for (const bad of [0n, -1n, microMax + 1n, 0.1 as unknown as bigint, Number.NaN as unknown as bigint])
    expect(() => debit(externalAccount(base), bad)).toThrow(LedgerRefused)
})

test('L6: a balance beyond 2^63 - 1 is an error and is rolled back', async () => {
  await post(db.database, [topUp('l6:max', 6, microMax)])
  await expect(post(db.database, [topUp('l6:one', 6, 1n)])).rejects.toThrow(LedgerRefused)
  expect(await owedTo(db.database, accounts.credit(base, wallet(6)))).toBe(microMax)
  await reverse(db.database, 'l6:max', 'test')
})

test('L31: the same asset on two chains is kept in separate accounts and never netted', async () => {
  await post(db.database, [topUp('l31:base', 31, 5n), topUp('l31:polygon', 31, 9n, polygon)])
  expect(await owedTo(db.database, accounts.credit(base, wallet(31)))).toBe(5n)
  expect(await owedTo(db.database, accounts.credit(polygon, wallet(31)))).toBe(9n)
  const crossing: LedgerTransaction = {
    reference: 'l31:cross',
    kind: 'mistake',
    lines: [debit(externalAccount(base), 5n), credit(accounts.credit(polygon, wallet(31)), 5n)],
  }
  await expect(post(db.database, [crossing])).rejects.toThrow(/does not balance/)
})

test('L32: the trial balance of a past time equals what was read then, and every unit sums to zero', async () => {
  await post(db.database, [topUp('l32:1', 32, 11n)])
  const then = await trialBalance(db.database)
  const { rows } = await db.database.query<{ now: Date }>(`select clock_timestamp() + interval '1 ms' as now`)
  await db.database.query('select pg_sleep(0.005)')
  await post(db.database, [topUp('l32:2', 32, 13n)])
  expect(await trialBalance(db.database, rows[0]?.now)).toEqual(then)
  expect(await trialBalance(db.database)).not.toEqual(then)
  expect(Object.values(then.sumByUnit).every((sum) => sum === 0n)).toBe(true)
})

test('a reversal mirrors its posting once, and is refused when the money was spent', async () => {
  await post(db.database, [topUp('rev:in', 40, 100n), topUp('rev:spent', 41, 100n)])
  expect((await reverse(db.database, 'rev:in', 'reorg')).status).toBe('posted')
  expect((await reverse(db.database, 'rev:in', 'reorg')).status).toBe('already')
  expect(await owedTo(db.database, accounts.credit(base, wallet(40)))).toBe(0n)
  await post(db.database, [spend('rev:use', 41, 1n)])
  await expect(reverse(db.database, 'rev:spent', 'reorg')).rejects.toThrow(InsufficientBalance)
  await expect(reverse(db.database, 'rev:never', 'reorg')).rejects.toThrow(/nothing was posted/)
})

test('a clearing account that is not zero is shown with its payment and its age', async () => {
  await post(db.database, [
    {
      reference: 'clear:in',
      kind: 'settled',
      paymentId: 'pay_open',
      lines: [debit(externalAccount(base), 50n), credit(accounts.clearingPayments(base), 50n)],
    },
  ])
  expect(await openClearing(db.database)).toMatchObject([{ paymentId: 'pay_open', balanceMicro: -50n }])
  await reverse(db.database, 'clear:in', 'test')
  expect(await openClearing(db.database)).toEqual([])
})

test('postings in a transaction that fails leave nothing behind, new accounts included', async () => {
  await expect(
    db.database.transaction(async (tx) => {
      await post(tx, [topUp('gone:1', 777, 5n)])
      throw new Error('changed my mind')
    }),
  ).rejects.toThrow('changed my mind')
  expect(await owedTo(db.database, accounts.credit(base, wallet(777)))).toBe(0n)
  expect((await post(db.database, [topUp('gone:1', 777, 6n)]))[0]?.status).toBe('posted')
})

test('concurrent batches that share accounts, references and new names in any order never deadlock for good', async () => {
  const batch = (seed: number) =>
    Array.from({ length: 20 }, (_, n) => {
      const key = (n * 7 + seed * 3) % 20
      return topUp(`share:${key}`, 900 + key, BigInt(key + 1))
    })
  const all = await Promise.all(
    Array.from({ length: 16 }, (_, seed) => db.database.transaction((tx) => post(tx, batch(seed)))),
  )
  expect(all.flat().filter(({ status }) => status === 'posted')).toHaveLength(20)
  expect(await balanceDifferences(db.database)).toEqual([])
})
