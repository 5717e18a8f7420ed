import { afterAll, beforeAll, expect, test } from 'vitest'
import { sha256 } from '../kernel/bytes.ts'
import { connectClient } from './connection.ts'
import { type Migration, migrate, readMigrations } from './migrate.ts'
import { breaksRunningVersion } from './migration-rules.ts'
import { openTestDatabase, type TestDatabase } from './testing.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db.close())

const migration = (name: string, text: string): Migration => ({ name, text, sha256: sha256(text).toString('hex') })

const run = async (migrations: readonly Migration[]) => {
  const client = await connectClient({ url: db.databaseUrl })
  try {
    return await migrate(client, migrations)
  } finally {
    await client.end()
  }
}

test('what is missing is applied once, in order, however many processes start together', async () => {
  const known = await readMigrations()
  expect(await run(known)).toEqual([])
  const more = [
    ...known,
    migration('9001_a.sql', 'create table a (x int)'),
    migration('9002_b.sql', 'create table b (x int)'),
  ]
  const applied = await Promise.all([run(more), run(more), run(more)])
  expect(applied.flat()).toEqual(['9001_a.sql', '9002_b.sql'])

  const changed = more.map((one) => (one.name === '9001_a.sql' ? migration(one.name, 'create table a (y int)') : one))
  await expect(run(changed)).rejects.toThrow(/9001_a.sql was changed/)
  await expect(run(known)).rejects.toThrow(/9001_a.sql was applied by a newer version.*9002_b.sql/)

  const failing = [...more, migration('9003_c.sql', 'create table c (x int); select 1/0')]
  await expect(run(failing)).rejects.toThrow(/9003_c.sql failed: division by zero/)
  await expect(db.owner.query('select from c')).rejects.toThrow(/does not exist/)
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
  const client = await connectClient({ url: db.databaseUrl })
  const { rows } = await client.query<{ name: string; sha256: string }>('select name, sha256 from schema_migration')
  const applied = rows.map(({ name, sha256: digest }) => ({ name, text: '', sha256: digest }))
  const newer = [
    migration('9101_expand.sql', `alter table sale add column note text, add column size int not null default 1`),
    migration(
      '9102_expand.sql',
      `create index sale_state on sale (state); create table sale_note (id int primary key)`,
    ),
  ]
  expect(await migrate(client, [...applied, ...newer])).toEqual(['9101_expand.sql', '9102_expand.sql'])
  await client.end()
  const then = sold
  await expect.poll(() => sold, { timeout: 20_000 }).toBeGreaterThan(then + 20)
  stopped = true
  await selling
})

test('migrations only add, or say since when nothing uses what they take away', async () => {
  const broken = (text: string) => breaksRunningVersion({ name: '0900_x.sql', text })
  expect(broken('alter table payment drop column note;')).toEqual(['drops a column'])
  expect(broken('alter table payment rename column a to b;')).toEqual(['renames something'])
  expect(broken('alter table payment alter column a type bigint;')).toEqual(['changes the type of a column'])
  expect(broken('alter table payment add column a text not null;')).toHaveLength(1)
  expect(broken(`alter table payment add column a text not null default 'x', add column b int;`)).toEqual([])
  expect(broken('create table a (x int); alter table a drop column x;')).toEqual([])
  expect(broken('-- contract: unused since version 1.4\ndrop table a;')).toEqual([])
  for (const one of await readMigrations()) expect(breaksRunningVersion(one), one.name).toEqual([])
})
