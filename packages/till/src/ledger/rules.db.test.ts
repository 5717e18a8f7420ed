import { expect, test } from 'vitest'
import type { Sql } from '../store/database.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { externalAccount } from './accounts.fixture.ts'
import { accounts, credit, debit, post, postSql } from './index.ts'

const base = 'eip155:8453'
const wallet = '0x00000000000000000000000000000000000000aa'

const db = await useTestDatabase()
await post(db.database, [
  {
    reference: 'seed',
    kind: 'topup',
    lines: [debit(externalAccount(base), 100n), credit(accounts.credit(base, wallet), 100n)],
  },
])

const idOf = async (name: string) => {
  const { rows } = await db.owner.query<{ id: bigint }>('select id from ledger_account where name = $1', [name])
  return rows[0]?.id ?? 0n
}

/** A ledger transaction by hand, as faulty code or a person at a prompt might write it. */
const insertRaw = async (sql: Sql, reference: string, lines: readonly (readonly [bigint, bigint])[]) => {
  const { rows } = await sql.query<{ id: bigint }>(
    `insert into ledger_transaction (reference, kind) values ($1, 'raw') returning id`,
    [reference],
  )
  await sql.query(
    `insert into ledger_entry (transaction_id, line, account_id, amount_micro)
     select $1, place - 1, account, amount from unnest($2::bigint[], $3::bigint[]) with ordinality n (account, amount, place)`,
    [rows[0]?.id, lines.map(([account]) => account), lines.map(([, amount]) => amount)],
  )
}

test('L27: an unbalanced entry is refused by the database, for the owner too', async () => {
  const onchain = await idOf(externalAccount(base).name)
  const owed = await idOf(accounts.credit(base, wallet).name)
  const attempt = (reference: string, lines: (readonly [bigint, bigint])[]) =>
    db.owner.transaction((tx) => insertRaw(tx, reference, lines))
  await expect(
    attempt('l27:off', [
      [onchain, 5n],
      [owed, -4n],
    ]),
  ).rejects.toThrow(/does not balance.*off by 1/)
  await expect(attempt('l27:half', [[onchain, 5n]])).rejects.toThrow(/does not balance/)
  await expect(
    attempt('l27:zero', [
      [onchain, 0n],
      [owed, 0n],
    ]),
  ).rejects.toThrow(/amount_micro_check/)
  await expect(
    attempt('l27:ghost', [
      [onchain, 5n],
      [987_654n, -5n],
    ]),
  ).rejects.toThrow(/does not exist|does not balance/)
  await expect(
    attempt('l27:below', [
      [onchain, -101n],
      [owed, 101n],
    ]),
  ).rejects.toThrow(/not_negative/)
})

test('L27: the application posts through ledger_post alone, which refuses what does not balance or has no lines', async () => {
  await expect(db.database.transaction((tx) => insertRaw(tx, 'l27:app', []))).rejects.toMatchObject({ code: '42501' })
  const call = (owners: number[], amounts: bigint[]) =>
    db.database.query(postSql, [
      [externalAccount(base).name, accounts.credit(base, wallet).name],
      ['asset', 'liability'],
      [`${base}/usdc`, `${base}/usdc`],
      [false, true],
      ['l27:one', 'l27:two'],
      ['raw', 'raw'],
      [null, null],
      ['', ''],
      owners,
      owners.map((_, index) => (index % 2) + 1),
      amounts,
      null,
      null,
    ])
  await expect(call([1, 1, 2, 2], [5n, -5n, 5n, -4n])).rejects.toThrow(/does not balance/)
  await expect(call([1, 1], [5n, -5n])).rejects.toThrow(/has no entries/)
  await expect(call([1, 1, 3, 3], [5n, -5n, 5n, -5n])).rejects.toThrow(/has no entries/)
  await expect(call([1, 1, 2, 2], [-60n, 60n, -41n, 41n])).rejects.toThrow(/not_negative/)
})

test('L27: a transaction without entries cannot be committed, and a closed one takes no more lines', async () => {
  await expect(db.owner.transaction((tx) => insertRaw(tx, 'l27:empty', []))).rejects.toThrow(/has no entries/)
  const onchain = await idOf(externalAccount(base).name)
  const owed = await idOf(accounts.credit(base, wallet).name)
  const addLater = db.owner.query(
    `insert into ledger_entry select t.id, n.line, n.account, n.amount from ledger_transaction t,
       unnest(array[7, 8], $1::bigint[], array[1, -1]) n (line, account, amount) where t.reference = 'seed'`,
    [[onchain, owed]],
  )
  await expect(addLater).rejects.toThrow(/is closed/)
})

test('L28: nothing posted can be changed or removed by the application, nor by the owner', async () => {
  const tables = ['ledger_entry', 'ledger_transaction', 'ledger_account', 'ledger_seal']
  for (const table of tables) {
    for (const statement of [`delete from ${table}`, `truncate ${table}`]) {
      await expect(db.database.query(statement), statement).rejects.toMatchObject({ code: '42501' })
      await expect(db.owner.query(statement), statement).rejects.toThrow(/never changed|permission/)
    }
  }
  for (const statement of [
    'update ledger_entry set amount_micro = amount_micro + 1',
    `update ledger_transaction set kind = 'x'`,
    'update ledger_balance set owed_micro = 0',
    'update ledger_balance set held_micro = 0',
    `insert into ledger_balance values (1, 1, 1)`,
    'alter table ledger_entry disable trigger all',
    'create table x (y int)',
    'drop table ledger_entry',
  ]) {
    await expect(db.database.query(statement), statement).rejects.toMatchObject({ code: '42501' })
  }
  await expect(db.owner.query('update ledger_entry set amount_micro = 7')).rejects.toThrow(/never changed/)
})

test('the parts of an account’s name are fields of its row', async () => {
  const wallet = `0x${'7e'.repeat(20)}` as const
  const network = 'eip155:8453'
  const dollar = `${network}/erc20:0x${'d0'.repeat(20)}`
  const of = (
    name: string,
    owner: string | null,
    role: string,
    purpose: string | null,
    where: string | null = network,
  ) => ({
    name,
    role,
    purpose,
    owner,
    network: where,
  })
  const expected = [
    of(`credit:${wallet}@${network}`, wallet, 'credit', null),
    of(`payable:affiliate:${wallet}@${network}`, wallet, 'payable', 'affiliate'),
    of(`payable:creator_accrued.11:${wallet}@${network}`, wallet, 'payable', 'creator_accrued'),
    of(`payable:creator_waiting.3:news.example@${network}`, null, 'payable', 'creator_waiting'),
    of(`receivable:credit:${wallet}@${network}`, wallet, 'receivable', 'credit'),
    of(`revenue:tokens.report@${network}`, null, 'revenue', 'tokens.report'),
    of(`unmatched:custody@${network}`, null, 'unmatched', 'custody'),
    of(`unmatched:custody@${dollar}`, null, 'unmatched', 'custody', dollar),
    of(`credit:${wallet}@${dollar}`, wallet, 'credit', null, dollar),
    of(`points:${wallet}`, wallet, 'points', null, null),
    of('points_issued', null, 'points_issued', null, null),
  ]
  await db.owner.query(
    `insert into ledger_account (name, kind, unit, guarded)
     select name, 'asset', 'points', false from unnest($1::text[]) name on conflict do nothing`,
    [expected.map(({ name }) => name)],
  )
  const { rows } = await db.database.query(
    'select name, role, purpose, owner, network from ledger_account where name = any($1)',
    [expected.map(({ name }) => name)],
  )
  const sorted = (list: readonly unknown[]) => list.map((row) => JSON.stringify(row)).sort()
  expect(sorted(rows)).toEqual(sorted(expected))
})
