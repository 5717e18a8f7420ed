import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Rng } from '../kernel/random.ts'
import { applyAppAccess, appRole, ensureAppRole } from './app-role.ts'
import { type ConnectionTarget, connectClient } from './connection.ts'
import type { Database } from './database.ts'
import { runEmbedded } from './embedded/run-embedded.ts'
import { StoreError } from './errors.ts'
import {
  type Migration,
  type MigrationOwner,
  migrate,
  migrateInOne,
  readMigrations,
  tillMigrations,
} from './migrate.ts'
import { createDatabase } from './pool.ts'
import { checkPooledSession, durabilityProblems, refuseOldServer } from './server-checks.ts'

export type OpenStoreOptions = {
  /** The data folder; the embedded server keeps its cluster there. */
  home?: string
  /** A PostgreSQL server to use instead of the embedded one. */
  databaseUrl?: string
  /** The same server past the transaction pooler that `databaseUrl` names. */
  directUrl?: string
  /** `databaseUrl` names a transaction pooler and nothing leads past it. */
  pooled?: boolean
  /** A standby of it, for reads that may lag. */
  replicaUrl?: string
  /** TCP port of the embedded server; a free one when 0 or absent. */
  port?: number
  poolSize?: number
  /** Who else has tables in it, after the till, in the order in which they build on each other. */
  migrations?: readonly MigrationOwner[]
  clock: Clock
  log: Log
  rng: Rng
  onProgress?(text: string): void
  /** Another process may run the data folder now: stop serving. Embedded only. */
  onLockLost?(): void
}

export type Store = {
  database: Database
  /** Logs in as the owner; another process can join with it. */
  databaseUrl: string
  embedded: boolean
  /** The pool works as a role without DDL and without UPDATE or DELETE on the books. Production insists on it. */
  restricted: boolean
  /** What an operator should know and production must refuse; empty when all is well. */
  problems: readonly string[]
  /** Closes the pool, then stops the embedded server. */
  stop(): Promise<void>
}

export async function openStore(options: OpenStoreOptions): Promise<Store> {
  if (options.databaseUrl) return openDatabase(options, { url: options.databaseUrl }, options.databaseUrl)
  if (options.home === undefined) throw new StoreError('a database URL or a data folder is needed')
  const server = await runEmbedded({
    home: options.home,
    ...(options.port ? { port: options.port } : {}),
    clock: options.clock,
    log: options.log,
    rng: options.rng,
    onProgress: options.onProgress ?? (() => {}),
    onLockLost: options.onLockLost ?? (() => options.log.error({}, 'the data folder is no longer held')),
  })
  try {
    const store = await openDatabase(options, server.target, server.databaseUrl)
    return {
      ...store,
      embedded: true,
      stop: async () => {
        await store.stop()
        await server.stop()
      },
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

async function openDatabase(options: OpenStoreOptions, target: ConnectionTarget, databaseUrl: string): Promise<Store> {
  const direct = options.directUrl === undefined ? undefined : { url: options.directUrl }
  const migrations = await readMigrations([tillMigrations, ...(options.migrations ?? [])])
  const pooled = options.pooled === true
  const prepared = await prepareDatabase(direct ?? target, migrations, { pooled })
  const database = createDatabase({
    target,
    ...(direct ? { direct } : pooled ? { pooled } : prepared.restricted ? { role: appRole } : {}),
    ...(options.poolSize === undefined ? {} : { poolSize: options.poolSize }),
    ...(options.replicaUrl === undefined ? {} : { replica: { url: options.replicaUrl } }),
    clock: options.clock,
    rng: options.rng,
    log: options.log,
  })
  const opened = { database, databaseUrl, embedded: false, stop: () => database.close() }
  if (!direct && !pooled) return { ...opened, ...prepared }
  try {
    const session = await checkPooledSession(database)
    return { ...opened, ...session, problems: [...prepared.problems, ...session.problems] }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** As the owner: schema, then rights. */
export async function prepareDatabase(
  target: ConnectionTarget,
  migrations: readonly Migration[],
  { pooled = false } = {},
): Promise<{ restricted: boolean; problems: string[] }> {
  const client = await connectClient(target).catch((cause: unknown) => {
    throw new StoreError(`the database cannot be reached: ${(cause as Error).message}`, { cause })
  })
  try {
    await refuseOldServer(client)
    // The login of a pooler may be one that can change rows only: then everything was made before.
    if (pooled && !(await migrateInOne(client, migrations)))
      return { restricted: true, problems: await durabilityProblems(client) }
    const restricted = await ensureAppRole(client)
    if (!pooled) await migrate(client, migrations)
    await client.query('select make_partitions(now())')
    if (restricted) await applyAppAccess(client)
    const problems = await durabilityProblems(client)
    if (!restricted) {
      problems.push(
        `the database user may not create the role ${appRole}, so the books are protected by triggers only: create it beforehand and grant it to this user`,
      )
    }
    return { restricted, problems }
  } finally {
    await client.end()
  }
}
