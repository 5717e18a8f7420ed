import { afterAll, beforeAll, expect, test } from 'vitest'
import { sha256 } from '../kernel/bytes.ts'
import { connectClient } from './connection.ts'
import { type Migration, migrate, readMigrations } from './migrate.ts'
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
