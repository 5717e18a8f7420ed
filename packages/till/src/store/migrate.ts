import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type pg from 'pg'
import { StoreError } from './errors.ts'

export type Migration = { name: string; text: string; sha256: string }

export const migrationsFolder = new URL('./migrations/', import.meta.url)

const fileNamePattern = /^[0-9]{4}_[a-z0-9_]+\.sql$/

export async function readMigrations(folder: URL = migrationsFolder): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  const numbers = new Set<string>()
  return Promise.all(
    names.map(async (name) => {
      const number = name.slice(0, 4)
      if (!fileNamePattern.test(name) || numbers.has(number)) throw new StoreError(`bad migration file name: ${name}`)
      numbers.add(number)
      // A checkout with other line ends is still the same migration.
      const text = (await readFile(new URL(name, folder), 'utf8')).replaceAll('\r\n', '\n')
      return { name, text, sha256: createHash('sha256').update(text).digest('hex') }
    }),
  )
}

const migrationLock = [1634952033, 2] as const

/** Applies what is missing, in order, each file in one transaction. Returns the names applied now. */
export async function migrate(client: pg.ClientBase, migrations: readonly Migration[]): Promise<string[]> {
  await client.query('select pg_advisory_lock($1, $2)', [...migrationLock])
  try {
    await client.query(`create table if not exists schema_migration (
      name text primary key, sha256 text not null, applied_at timestamptz not null default now())`)
    const { rows } = await client.query<{ name: string; sha256: string }>('select name, sha256 from schema_migration')
    const applied = new Map(rows.map((row) => [row.name, row.sha256]))
    refuseDifferences(applied, migrations)
    const missing = migrations.filter((migration) => !applied.has(migration.name))
    for (const migration of missing) await applyOne(client, migration)
    return missing.map((migration) => migration.name)
  } finally {
    await client.query('select pg_advisory_unlock($1, $2)', [...migrationLock])
  }
}

function refuseDifferences(applied: ReadonlyMap<string, string>, migrations: readonly Migration[]): void {
  const known = new Set(migrations.map((migration) => migration.name))
  const changed = migrations.filter(({ name, sha256 }) => applied.has(name) && applied.get(name) !== sha256)
  const unknown = [...applied.keys()].filter((name) => !known.has(name))
  const problems = [
    ...changed.map(({ name }) => `${name} was changed after it had been applied`),
    ...unknown.map((name) => `${name} was applied by a newer version of this program`),
  ]
  if (problems.length > 0) throw new StoreError(`the database does not fit this program: ${problems.join('; ')}`)
}

async function applyOne(client: pg.ClientBase, migration: Migration): Promise<void> {
  await client.query('begin')
  try {
    // A migration that waits for a busy table must not make everyone else wait behind it.
    await client.query(`set local lock_timeout = '10s'`)
    await client.query(migration.text)
    await client.query('insert into schema_migration (name, sha256) values ($1, $2)', [
      migration.name,
      migration.sha256,
    ])
    await client.query('commit')
  } catch (cause) {
    await client.query('rollback').catch(() => {})
    throw new StoreError(`migration ${migration.name} failed: ${(cause as Error).message}`, { cause })
  }
}
