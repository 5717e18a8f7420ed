import { expect, test } from 'vitest'
import { rowsRead } from '../store/rows-read.fixture.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { externalAccount } from './accounts.fixture.ts'
import { accounts, credit, debit, post, sealBooks, sealHead, verifySeals } from './index.ts'

const base = 'eip155:8453'

const db = await useTestDatabase()

const sale = (n: number) => ({
  reference: `seal:${n}`,
  kind: 'sale',
  paymentId: `pay_${n}`,
  lines: [debit(externalAccount(base), 10n), credit(accounts.revenue(base, 'sandbox.echo'), 10n)],
})
const sales = (from: number, count: number) => Array.from({ length: count }, (_, n) => sale(from + n))

const sealUntil = async (expected: number) => expect(await sealBooks(db.database)).toBe(expected)

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

test('seals can be verified on from one that was: what follows it, and that it is still the same', async () => {
  await post(db.database, sales(20, 1))
  await sealUntil(1)
  const head = await sealHead(db.database)
  const onward = () => verifySeals(db.database, undefined, head)
  await post(db.database, sales(21, 1))
  await sealUntil(1)
  expect(await onward()).toBeUndefined()
  const flip = `update ledger_entry set amount_micro = amount_micro # 1
    where transaction_id = (select id from ledger_transaction where reference = 'seal:21') and line = 0`
  await tamper(flip)
  expect(await onward()).toMatchObject({ what: 'transaction changed', reference: 'seal:21' })
  await tamper(flip)
  await tamper(`update ledger_seal set position = position + 1000000 where seq = ${head?.seq}`)
  expect(await onward()).toMatchObject({ seq: head?.seq, what: 'seal changed' })
  await tamper(`update ledger_seal set position = position - 1000000 where seq = ${head?.seq}`)
  expect(await onward()).toBeUndefined()
})

test('a transaction that is still open holds up no other, and is sealed after it commits', async () => {
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
  await sealUntil(1)
  commit()
  await open
  await sealUntil(1)
  expect(await verifySeals(db.database)).toBeUndefined()
})

test('many postings are cut into several seals, whose places follow each other', async () => {
  for (let n = 0; n < 6; n += 1) await post(db.database, sales(1_000 + n * 400, 400))
  await sealUntil(2_400)
  const { rows } = await db.database.query<{ size: number; gap: bigint }>(
    `select cardinality(transaction_ids) as size, lead(position) over (order by seq) - position - cardinality(transaction_ids) as gap
     from ledger_seal order by seq desc limit 3`,
  )
  expect(rows).toEqual([
    { size: 400, gap: null },
    { size: 1_000, gap: 0n },
    { size: 1_000, gap: 0n },
  ])
  expect(await verifySeals(db.database)).toBeUndefined()
})

test('books that were restored into another server are sealed on, whatever its transaction numbers are', async () => {
  await post(db.database, sales(8_000, 2))
  await tamper(`update ledger_transaction set xid = '999999999999'::xid8 where reference = 'seal:8000'`)
  await sealUntil(2)
  await post(db.database, sales(8_002, 1))
  await sealUntil(1)
  expect(await verifySeals(db.database)).toBeUndefined()
})

test('a removed transaction, an added one and a changed seal are all found', async () => {
  await post(db.database, sales(9_000, 2))
  await sealUntil(2)
  const head = await sealHead(db.database)
  await tamper(`insert into ledger_transaction (reference, kind) values ('invented', 'sale')`)
  expect(await verifySeals(db.database)).toMatchObject({ what: 'transaction added', reference: 'invented' })
  await tamper(`delete from ledger_transaction where reference = 'invented'`)
  await post(db.database, sales(9_002, 1))
  await tamper(`delete from ledger_unsealed`)
  expect(await verifySeals(db.database)).toMatchObject({ what: 'transaction added', reference: 'seal:9002' })
  await tamper(`insert into ledger_unsealed select id from ledger_transaction where reference = 'seal:9002'`)
  expect(await verifySeals(db.database)).toBeUndefined()
  await tamper(`delete from ledger_transaction where reference = 'seal:9001'`)
  expect(await verifySeals(db.database)).toMatchObject({ seq: head?.seq, what: 'transaction missing' })
  await tamper(`update ledger_seal set sealed_at = now(), hash = sha256(hash) where seq = 1`)
  expect(await verifySeals(db.database)).toMatchObject({ seq: 1n, what: 'seal changed' })
})

test('what waits for a seal is read once, however few waited when the table was last counted', async () => {
  await sealBooks(db.database)
  // Counted as a server does it by itself: pages of rows that are gone, and none that waits.
  await db.owner.query('analyze ledger_unsealed')
  const waiting = 600
  await post(db.database, sales(10_000, waiting))
  let read = 0
  const undone = db.database.transaction(async (tx) => {
    read = await rowsRead(tx as never, (counted) =>
      sealBooks({ ...counted, transaction: (work) => work({ ...counted, transaction: true }) }),
    )
    // Counting has run its statements twice.
    throw new Error('counted')
  })
  await expect(undone).rejects.toThrow('counted')
  expect(read).toBeLessThan(20 * waiting)
  await sealUntil(waiting)
})
