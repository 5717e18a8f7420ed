import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { StoreError } from './errors.ts'

/** Who brings tables, and the folder of its migrations. */
export type MigrationOwner = { name: string; folder: URL }

export type Migration = { owner: string; number: number; name: string; text: string; sha256: string }

export const tillMigrations: MigrationOwner = { name: 'till', folder: new URL('./migrations/', import.meta.url) }

/** A folder `migrations` belongs to whatever the folder above it is called. */
export function ownerOf(folder: URL): MigrationOwner {
  return { name: basename(dirname(fileURLToPath(folder))), folder }
}

const fileNamePattern = /^[0-9]{4}_[a-z0-9_]+\.sql$/

/**
 * Of each owner in turn, those first that another one builds on: it says so in a line of its first file,
 * `-- builds on: <owner>`.
 */
export async function readMigrations(owners: readonly MigrationOwner[]): Promise<Migration[]> {
  const names = owners.map(({ name }) => name)
  const twice = names.find((name, place) => names.indexOf(name) !== place)
  if (twice !== undefined) throw new StoreError(`two owners of migrations are called ${twice}`)
  const waiting = new Map((await Promise.all(owners.map(readOwner))).map((list, place) => [names[place], list]))
  const ordered: Migration[] = []
  while (waiting.size > 0) {
    const next = [...waiting].find(([, list]) => !buildsOn(list).some((other) => waiting.has(other)))
    if (next === undefined) throw new StoreError(`owners build on each other: ${[...waiting.keys()].join(', ')}`)
    const missing = buildsOn(next[1]).find((other) => !names.includes(other))
    if (missing !== undefined) throw new StoreError(`${next[0]} builds on the tables of ${missing}, which is not there`)
    ordered.push(...next[1])
    waiting.delete(next[0])
  }
  return ordered
}

function buildsOn([first]: readonly Migration[]): string[] {
  return /^-- builds on: (.+)$/m.exec(first?.text ?? '')?.[1]?.split(/,\s*/) ?? []
}

async function readOwner({ name: owner, folder }: MigrationOwner): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  const numbers = new Set<string>()
  return Promise.all(
    names.map(async (name) => {
      const number = name.slice(0, 4)
      if (!fileNamePattern.test(name) || numbers.has(number))
        throw new StoreError(`bad migration file name: ${owner}/${name}`)
      numbers.add(number)
      // A checkout with other line ends is still the same migration.
      return migrationOf(owner, name, (await readFile(new URL(name, folder), 'utf8')).replaceAll('\r\n', '\n'))
    }),
  )
}

export function migrationOf(owner: string, name: string, text: string): Migration {
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { owner, number: Number(name.slice(0, 4)), name, text, sha256 }
}

const migrationLock = [1634952033, 2] as const

const tableSql = `create table if not exists schema_migration (
  owner text not null, number integer not null, name text not null, sha256 text not null,
  applied_at timestamptz not null default now(), primary key (owner, number))`

/** Whether nothing is missing; throws for a database that does not fit. */
async function isCurrent(client: pg.ClientBase, migrations: readonly Migration[]): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>(
    `select to_regclass('schema_migration') is not null as exists`,
  )
  if (!rows[0]?.exists) return false
  const applied = await readApplied(client)
  refuseDifferences(applied, migrations)
  return migrations.every((migration) => applied.has(keyOf(migration)))
}

const readApplied = async (client: pg.ClientBase) => {
  const { rows } = await client.query<Applied>('select owner, number, name, sha256 from schema_migration')
  return new Map(rows.map((row) => [keyOf(row), row]))
}

/** Through a transaction pooler: all that is missing in one transaction, for no lock outlives one. True if something was. */
export async function migrateInOne(client: pg.ClientBase, migrations: readonly Migration[]): Promise<boolean> {
  if (await isCurrent(client, migrations)) return false
  await client.query('begin')
  try {
    await client.query('select pg_advisory_xact_lock($1, $2)', [...migrationLock])
    await client.query(tableSql)
    const applied = await readApplied(client)
    const missing = migrations.filter((migration) => !applied.has(keyOf(migration)))
    for (const migration of missing) {
      if (concurrentIndex(migration.text) !== undefined)
        throw new StoreError(
          `migration ${pathOf(migration)} needs a connection past the pooler: apply it from there once`,
        )
      await client.query(migration.text).catch((error: Error) => {
        throw failed(migration, error)
      })
      await record(client, migration)
    }
    await client.query('commit')
    return true
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/** Applies what is missing, in order, each file in one transaction. Returns what was applied now, as owner/name. */
export async function migrate(client: pg.ClientBase, migrations: readonly Migration[]): Promise<string[]> {
  await client.query('select pg_advisory_lock($1, $2)', [...migrationLock])
  try {
    await client.query(tableSql)
    const applied = await readApplied(client)
    refuseDifferences(applied, migrations)
    const missing = migrations.filter((migration) => !applied.has(keyOf(migration)))
    for (const migration of missing) await applyOne(client, migration)
    return missing.map(pathOf)
  } finally {
    await client.query('select pg_advisory_unlock($1, $2)', [...migrationLock])
  }
}

type Applied = Pick<Migration, 'owner' | 'number' | 'name' | 'sha256'>

const keyOf = ({ owner, number }: Pick<Migration, 'owner' | 'number'>) => `${owner} ${number}`
const pathOf = ({ owner, name }: Pick<Migration, 'owner' | 'name'>) => `${owner}/${name}`

/** What an owner that is not here applied stays: a shop that was removed leaves its tables, which do no harm. */
function refuseDifferences(applied: ReadonlyMap<string, Applied>, migrations: readonly Migration[]): void {
  const known = new Set(migrations.map(keyOf))
  const owners = new Set(migrations.map(({ owner }) => owner))
  const changed = migrations.filter((one) => {
    const before = applied.get(keyOf(one))
    return before !== undefined && before.sha256 !== one.sha256
  })
  const unknown = [...applied.values()].filter((one) => owners.has(one.owner) && !known.has(keyOf(one)))
  const problems = [
    ...changed.map((one) => `${pathOf(one)} was changed after it had been applied`),
    ...unknown.map((one) => `${pathOf(one)} was applied by a newer version of this program`),
  ]
  if (problems.length > 0) throw new StoreError(`the database does not fit this program: ${problems.join('; ')}`)
}

async function applyOne(client: pg.ClientBase, migration: Migration): Promise<void> {
  try {
    const index = concurrentIndex(migration.text)
    if (index === undefined) await applyInTransaction(client, migration)
    else await applyConcurrently(client, migration, index)
  } catch (cause) {
    throw failed(migration, cause as Error & { code?: string })
  }
}

// A table, type or function of that name is there already.
const alreadyThere = new Set(['42P07', '42710', '42723'])

function failed(migration: Migration, cause: Error & { code?: string }): StoreError {
  const hint = alreadyThere.has(cause.code ?? '')
    ? '; the database has tables of another program, use one that is empty'
    : ''
  return new StoreError(`migration ${pathOf(migration)} failed: ${cause.message}${hint}`, { cause })
}

async function applyInTransaction(client: pg.ClientBase, migration: Migration): Promise<void> {
  await client.query('begin')
  try {
    // A migration that waits for a busy table must not make everyone else wait behind it.
    await client.query(`set local lock_timeout = '10s'`)
    await client.query(migration.text)
    await record(client, migration)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/** Name of the index that a migration makes or drops without blocking writers, which needs to be outside a transaction. */
function concurrentIndex(text: string): string | undefined {
  const plain = text.replace(/--.*$/gm, '').trim()
  return /^(?:create\s+(?:unique\s+)?index\s+concurrently|drop\s+index\s+concurrently\s+if\s+exists)\s+(\w+)[^;]*;?$/i.exec(
    plain,
  )?.[1]
}

/** An interrupted build leaves an index that is never used: it is dropped before the next attempt. */
async function applyConcurrently(client: pg.ClientBase, migration: Migration, index: string): Promise<void> {
  const { rows } = await client.query<{ valid: boolean; cut: boolean }>(
    `select indisvalid as valid, relkind = 'I' as cut from pg_index join pg_class c on c.oid = indexrelid where indexrelid = to_regclass('public.' || quote_ident($1))`,
    [index],
  )
  const [found] = rows
  // That of a table in partitions is not valid until it is on each of them.
  if (found?.valid === false && !found.cut) await client.query(`drop index concurrently ${index}`)
  // Built, but the process ended before it was recorded.
  const done = found?.valid === true && /^\s*create\b/im.test(migration.text.replace(/--.*$/gm, ''))
  if (!done && !(await indexPartitions(client, migration.text, index))) await client.query(migration.text)
  await record(client, migration)
}

const indexHead = /index\s+concurrently\s+\w+\s+on\s+(\w+)/i

/** A table that is cut into partitions gets its index on each of them, one after the other, and is complete with the last. */
async function indexPartitions(client: pg.ClientBase, text: string, index: string): Promise<boolean> {
  const table = indexHead.exec(text)?.[1]
  if (table === undefined) return false
  const { rows } = await client.query<{ part: string; built: boolean }>(
    `select c.relname as part, coalesce(x.indisvalid, false) as built from pg_inherits i join pg_class c on c.oid = i.inhrelid
     left join pg_index x on x.indexrelid = to_regclass('public.' || quote_ident(c.relname || '_' || $2::text))
     where i.inhparent = to_regclass('public.' || quote_ident($1)) and c.relkind = 'r'`,
    [table, index],
  )
  if (rows.length === 0) return false
  await client.query(text.replace(indexHead, `index if not exists ${index} on only ${table}`))
  for (const { part, built } of rows) {
    if (!built) {
      await client.query(`drop index concurrently if exists ${part}_${index}`)
      await client.query(text.replace(indexHead, `index concurrently ${part}_${index} on ${part}`))
    }
    await client.query(`alter index ${index} attach partition ${part}_${index}`)
  }
  return true
}

async function record(client: pg.ClientBase, { owner, number, name, sha256 }: Migration): Promise<void> {
  await client.query('insert into schema_migration (owner, number, name, sha256) values ($1, $2, $3, $4)', [
    owner,
    number,
    name,
    sha256,
  ])
}
