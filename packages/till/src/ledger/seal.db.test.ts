import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { openTestDatabase, type TestDatabase } from '../store/testing.ts'
import { elsewhere } from './accounts.fixture.ts'
import { accounts, credit, debit, post, sealBooks, sealHead, verifySeals } from './index.ts'

const base = 'eip155:8453'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db.close())

const sale = (n: number) => ({
  reference: `seal:${n}`,
  kind: 'sale',
  paymentId: `pay_${n}`,
  lines: [debit(elsewhere(base), 10n), credit(accounts.revenue(base, 'sandbox.echo'), 10n)],
})
const sales = (from: number, count: number) => Array.from({ length: count }, (_, n) => sale(from + n))

/** Transactions of other test files on the same server may hold a seal back for a moment. */
const sealUntil = async (expected: number) => {
  let total = 0
  for (let tries = 0; total < expected && tries < 1_500; tries += 1) {
    total += await sealBooks(db.database)
    if (total < expected) await systemClock.sleep(20)
  }
  expect(total).toBe(expected)
}

/** As somebody with full power over the database would: triggers off, one change, triggers on. */
const tamper = (statement: string) =>
  db.owner.transaction(async (tx) => {
    await tx.query(`set local session_replication_role = replica`)
    const { rowCount } = await tx.query(statement)
    expect(rowCount).toBe(1)
  })

test('L29: committed postings are sealed once, in a chain, and one flipped bit in an old row names that row', async () => {
  await post(db.database, sales(0, 5))
  await sealUntil(5)
  expect(await sealBooks(db.database)).toBe(0)
  for (let n = 0; n < 3; n += 1) await post(db.database, sales(5 + n, 1))
  await sealUntil(3)
  expect(await verifySeals(db.database)).toBeUndefined()

  const victim = `(select id from ledger_transaction where reference = 'seal:6')`
  const changes: [string, string][] = [
    [
      `update ledger_entry set amount_micro = amount_micro # 1 where transaction_id = ${victim} and line = 0`,
      `update ledger_entry set amount_micro = amount_micro # 1 where transaction_id = ${victim} and line = 0`,
    ],
    [
      `update ledger_transaction set payment_id = 'pay_7' where reference = 'seal:6'`,
      `update ledger_transaction set payment_id = 'pay_6' where reference = 'seal:6'`,
    ],
    [
      `update ledger_transaction set created_at = created_at + interval '1 microsecond' where reference = 'seal:6'`,
      `update ledger_transaction set created_at = created_at - interval '1 microsecond' where reference = 'seal:6'`,
    ],
  ]
  for (const [change, back] of changes) {
    await tamper(change)
    expect(await verifySeals(db.database)).toMatchObject({ what: 'transaction changed', reference: 'seal:6' })
    await tamper(back)
    expect(await verifySeals(db.database)).toBeUndefined()
  }
})

test('a transaction that is still open holds the seal back, and is sealed after it commits', async () => {
  let commit = () => {}
  const mayCommit = new Promise<void>((resolve) => {
    commit = resolve
  })
  let posted = () => {}
  const wasPosted = new Promise<void>((resolve) => {
    posted = resolve
  })
  const open = db.database.transaction(async (tx) => {
    await post(tx, [sale(100)])
    posted()
    await mayCommit
  })
  await wasPosted
  await post(db.database, [sale(101)])
  expect(await sealBooks(db.database)).toBe(0)
  commit()
  await open
  await sealUntil(2)
  expect(await verifySeals(db.database)).toBeUndefined()
})

test('many postings are cut into several seals at whole database transactions', async () => {
  for (let n = 0; n < 6; n += 1) await post(db.database, sales(1_000 + n * 400, 400))
  await sealUntil(2_400)
  const { rows } = await db.database.query<{ size: number }>(
    'select array_length(transaction_ids, 1) as size from ledger_seal order by seq desc limit 3',
  )
  expect(rows.every(({ size }) => size % 400 === 0 && size <= 1_000)).toBe(true)
  expect(await verifySeals(db.database)).toBeUndefined()
})

test('a removed transaction, an added one and a changed seal are all found', async () => {
  await post(db.database, sales(9_000, 2))
  await sealUntil(2)
  const head = await sealHead(db.database)
  await tamper(`update ledger_transaction set xid = '1'::xid8 where reference = 'seal:9001'`)
  expect(await verifySeals(db.database)).toMatchObject({ what: 'transaction added', reference: 'seal:9001' })
  await tamper(`update ledger_transaction t set xid = o.xid from ledger_transaction o
    where t.reference = 'seal:9001' and o.reference = 'seal:9000'`)
  expect(await verifySeals(db.database)).toBeUndefined()
  await tamper(`delete from ledger_transaction where reference = 'seal:9001'`)
  expect(await verifySeals(db.database)).toMatchObject({ seq: head?.seq, what: 'transaction missing' })
  await tamper(`update ledger_seal set sealed_at = now(), hash = sha256(hash) where seq = 1`)
  expect(await verifySeals(db.database)).toMatchObject({ seq: 1n, what: 'seal changed' })
})
