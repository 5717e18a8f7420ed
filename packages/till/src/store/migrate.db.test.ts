import { expect, test } from 'vitest'
import { connectClient } from './connection.ts'
import {
  type Migration,
  type MigrationOwner,
  migrate,
  migrateInOne,
  migrationOf,
  readMigrations,
  tillMigrations,
} from './migrate.ts'
import { allOwners } from './testing.ts'
import { useTestDatabase } from './use-database.fixture.ts'

const db = await useTestDatabase()

const till = (name: string, text: string) => migrationOf('till', name, text)

const run = async (migrations: readonly Migration[]) => {
  const client = await connectClient({ url: db.databaseUrl })
  try {
    return await migrate(client, migrations)
  } finally {
    await client.end()
  }
}

test('what is missing is applied once, in order, however many processes start together', async () => {
  const known = await readMigrations(await allOwners())
  expect(await run(known)).toEqual([])
  const more = [
    ...known,
    till('9001_a.sql', 'create table a (x int)'),
    migrationOf('toys', '0001_baseline.sql', 'create table b (x int)'),
  ]
  const applied = await Promise.all([run(more), run(more), run(more)])
  expect(applied.flat()).toEqual(['till/9001_a.sql', 'toys/0001_baseline.sql'])

  const changed = more.map((one) => (one.name === '9001_a.sql' ? till(one.name, 'create table a (y int)') : one))
  await expect(run(changed)).rejects.toThrow(/till\/9001_a.sql was changed/)
  await expect(run(known)).rejects.toThrow(/till\/9001_a.sql was applied by a newer version/)

  const failing = [...more, till('9003_c.sql', 'create table c (x int); select 1/0')]
  await expect(run(failing)).rejects.toThrow(/till\/9003_c.sql failed: division by zero/)
  await expect(db.owner.query('select from c')).rejects.toThrow(/does not exist/)
})

test('through a transaction pooler all that is missing is applied in one transaction, or nothing', async () => {
  const inOne = async (migrations: readonly Migration[]) => {
    const client = await connectClient({ url: db.databaseUrl })
    try {
      return await migrateInOne(client, migrations)
    } finally {
      await client.end()
    }
  }
  const own = (name: string, text: string) => migrationOf('pooled', name, text)
  const first = [
    own('0001_baseline.sql', 'create table pooled_a (x int)'),
    own('0002_b.sql', 'create table pooled_b (x int)'),
  ]
  const failing = [...first, own('0003_c.sql', 'create table pooled_c (x int); select 1/0')]
  await expect(inOne(failing)).rejects.toThrow('division by zero')
  await expect(db.owner.query('select from pooled_a')).rejects.toThrow(/does not exist/)
  const ended = await Promise.all([inOne(first), inOne(first), inOne(first)])
  expect(ended).toContain(true)
  expect(await inOne(first)).toBe(false)
  const slow = [...first, own('0003_i.sql', 'create index concurrently pooled_x on pooled_a (x)')]
  await expect(inOne(slow)).rejects.toThrow('needs a connection past the pooler')
})

test('an owner that is no longer there leaves its tables and stops nobody', async () => {
  const known = [...(await readMigrations(await allOwners())), till('9001_a.sql', 'create table a (x int)')]
  expect(await run([...known, migrationOf('gone', '0001_baseline.sql', 'create table gone (x int)')])).toEqual([
    'gone/0001_baseline.sql',
  ])
  expect(await run(known)).toEqual([])
  expect((await db.owner.query('select from gone')).rowCount).toBe(0)
})

test('owners migrate after those whose tables they build on, and not without them', async () => {
  const owners = await allOwners()
  const named = (...names: string[]) => names.map((name) => owners.find((one) => one.name === name) as MigrationOwner)
  const inOrder = async (list: readonly MigrationOwner[]) => [
    ...new Set((await readMigrations(list)).map(({ owner }) => owner)),
  ]
  expect(await inOrder([tillMigrations, ...named('attestations', 'sources', 'tlog')])).toEqual([
    'till',
    'sources',
    'attestations',
    'tlog',
  ])
  await expect(readMigrations([tillMigrations, ...named('attestations')])).rejects.toThrow(
    'attestations builds on the tables of sources, which is not there',
  )
  await expect(readMigrations([tillMigrations, tillMigrations])).rejects.toThrow('two owners of migrations')
})

test('a process of the version before goes on reading and writing while a newer one migrates under it', async () => {
  await db.owner.query(`create table sale (id int primary key, state text not null); grant all on sale to assay_app`)
  const write = { name: 'sale_write', text: 'insert into sale (id, state) values ($1, $2) returning id, state' }
  const read = { name: 'sale_read', text: 'select id, state from sale where id = $1' }
  let sold = 0
  let stopped = false
  const oldProcess = async () => {
    while (!stopped) {
      const id = ++sold
      await db.database.transaction(async (tx) => void (await tx.query({ ...write, values: [id, 'sold'] })))
      expect((await db.database.query({ ...read, values: [id] })).rows).toEqual([{ id, state: 'sold' }])
    }
  }
  const selling = Promise.all([oldProcess(), oldProcess(), oldProcess(), oldProcess()])
  await expect.poll(() => sold, { timeout: 20_000 }).toBeGreaterThan(20)
  const newer = [
    migrationOf(
      'sales',
      '0002_expand.sql',
      `alter table sale add column note text, add column size int not null default 1;
       create table sale_note (id int primary key)`,
    ),
    migrationOf('sales', '0003_index.sql', '-- Found by state.\ncreate index concurrently sale_state on sale (state);'),
  ]
  expect(await run(newer)).toEqual(['sales/0002_expand.sql', 'sales/0003_index.sql'])
  const then = sold
  await expect.poll(() => sold, { timeout: 20_000 }).toBeGreaterThan(then + 20)
  stopped = true
  await selling
})

test('an index whose build was interrupted is built again, and one that was only not recorded is kept', async () => {
  await db.owner.query('create table twin (x int); insert into twin values (1), (1)')
  const index = migrationOf('twins', '0002_index.sql', 'create unique index concurrently twin_x on twin (x);')
  await expect(run([index])).rejects.toThrow(/twins\/0002_index.sql failed: could not create unique index/)
  const valid = async () =>
    (
      await db.owner.query<{ valid: boolean }>(
        `select indisvalid as valid from pg_index where indexrelid = 'twin_x'::regclass`,
      )
    ).rows
  expect(await valid()).toEqual([{ valid: false }])
  await db.owner.query('delete from twin')
  expect(await run([index])).toEqual(['twins/0002_index.sql'])
  expect(await valid()).toEqual([{ valid: true }])
  await db.owner.query(`delete from schema_migration where owner = 'twins'`)
  expect(await run([index])).toEqual(['twins/0002_index.sql'])
})

test('an index of a table in partitions is built on each of them, and an interrupted build goes on', async () => {
  await db.owner.query(`create table cut (x int) partition by range (x);
    create table cut_low partition of cut for values from (0) to (10); create table cut_rest partition of cut default;
    insert into cut values (1), (20), (20)`)
  const index = migrationOf('cuts', '0002_index.sql', 'create index concurrently cut_x on cut (x) where x > 0;')
  await db.owner.query('create index cut_x on only cut (x) where x > 0')
  await db.owner.query('create index cut_low_cut_x on cut_low (x) where x > 0')
  expect(await run([index])).toEqual(['cuts/0002_index.sql'])
  const { rows } = await db.owner.query(
    `select c.relname as name, indisvalid as valid from pg_index join pg_class c on c.oid = indexrelid
     where c.relname like 'cut%' order by 1`,
  )
  expect(rows).toEqual(['cut_low_cut_x', 'cut_rest_cut_x', 'cut_x'].map((name) => ({ name, valid: true })))
})
