import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { sha256 } from '../kernel/bytes.ts'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { systemRng } from '../kernel/random.ts'
import { appRole } from './app-role.ts'
import { connectClient } from './connection.ts'
import type { Database } from './database.ts'
import type { Place } from './embedded/place.ts'
import { runEmbedded } from './embedded/run-embedded.ts'
import { asUser } from './embedded/tools.ts'
import { type Migration, type MigrationOwner, ownerOf, readMigrations, tillMigrations } from './migrate.ts'
import { prepareDatabase } from './open-store.ts'
import { createDatabase } from './pool.ts'

/** Where the server shared by all test files of a run is announced. */
export const testServerVariable = 'ASSAY_TEST_DATABASE_URL'

export type TestServer = {
  url: string
  /** Over the private socket, as a node reaches the server that it runs itself. */
  socketUrl: string
  place: Place
  stop(): Promise<void>
}

const notDurable = {
  ...{ fsync: 'off', full_page_writes: 'off', max_wal_size: '1GB', autovacuum: 'off', jit: 'off' },
  // Each test file has its own copy of a database: the kernel copies its files faster than the server reads and writes them.
  file_copy_method: 'clone',
  // Connections of tests live for a moment: planning each statement for its first five values is most of its time.
  plan_cache_mode: 'force_generic_plan',
}

/**
 * A throw-away server. Its data live as long as the run, so syncing them to disk would only cost time; a node in
 * production refuses a server that does not.
 */
export async function startTestServer({
  durable = false,
  onDisk = durable,
  connections = 300,
  settings = {},
}: {
  durable?: boolean
  onDisk?: boolean
  connections?: number
  settings?: Record<string, string>
} = {}): Promise<TestServer> {
  const home = await mkdtemp(join(onDisk ? tmpdir() : await scratchFolder(), 'assay-test-'))
  // Root's stand-in must be able to pass through.
  await chmod(home, 0o711)
  const server = await runEmbedded({
    home,
    settings: {
      ...(durable ? {} : notDurable),
      shared_buffers: '64MB',
      max_connections: String(connections),
      ...settings,
    },
    clock: systemClock,
    log: silentLog,
    rng: systemRng,
    onProgress: () => {},
    onLockLost: () => {},
  })
  const guard = watchOver(server.place)
  const socketUrl = await overSocket(server.databaseUrl)
  if (!durable) await logInFaster(socketUrl)
  return {
    // Over TCP a statement costs a third more on both sides.
    url: durable ? server.databaseUrl : socketUrl,
    socketUrl,
    place: server.place,
    stop: async () => {
      await server.stop()
      guard.kill()
      await rm(server.place.folder, { recursive: true, force: true })
      await rm(home, { recursive: true, force: true })
    },
  }
}

/**
 * Whatever way the server was first met by: in the setup of a run, reading the stack of an error fails, so that a server
 * that says it is starting seems to be none.
 */
async function overSocket(url: string): Promise<string> {
  const { rows } = await onServer(url, (client) => client.query<{ folder: string }>(socketFolderSql))
  return `${url}?host=${encodeURIComponent(rows[0]?.folder ?? '')}`
}

const socketFolderSql = `select current_setting('unix_socket_directories') as folder`

/** The same password, hashed once instead of thousands of times: tests open thousands of connections. */
async function logInFaster(url: string): Promise<void> {
  const { username, password } = new URL(url)
  await onServer(url, (client) =>
    client.query(`set scram_iterations = 1; alter role ${username} password '${decodeURIComponent(password)}'`),
  )
}

/** In memory, where there is plenty: a database is more than a thousand files, and each test file makes and drops one. */
export async function scratchFolder(): Promise<string> {
  const free = await statfs('/dev/shm').then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return free > 4 * 2 ** 30 ? '/dev/shm' : tmpdir()
}

/** A test run that is killed must not leave a server behind: when our end of the pipe goes, the shell cleans up. */
function watchOver(place: Place): ChildProcess {
  const script = 'cat >/dev/null; "$1" stop -D "$2/data" -m immediate -s; rm -rf "$2"'
  const guard = spawn('/bin/sh', ['-c', script, 'sh', place.binaries.pgCtl, place.folder], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    ...asUser(place.user),
  })
  guard.unref()
  ;(guard.stdin as Socket).unref()
  return guard
}

export type TestDatabase = {
  /** As the node sees it: in the application role. */
  database: Database
  /** As the owner, for what the application may not do. */
  owner: Database
  /** For another process, or a second pool. */
  databaseUrl: string
  /** A copy of what is in it now, as a restored backup would be. Nothing else may be connected to it meanwhile. */
  copy(): Promise<TestDatabase>
  close(): Promise<void>
}

/** Its own database with all migrations applied; for one test file, opened in beforeAll and closed in afterAll. */
export async function openTestDatabase(options: { poolSize?: number } = {}): Promise<TestDatabase> {
  const server = await sharedServer()
  const name = newName()
  await cloneTemplate(server.url, name)
  const opened = openNamed(server, name, options.poolSize ?? 10)
  // Two databases on one chain must not make the same nonces, as two copies of one would.
  await opened.owner.query(
    'set local session_replication_role = replica; update database_identity set id = gen_random_uuid()',
  )
  return opened
}

const newName = () => `test_${Buffer.from(systemRng.bytes(8)).toString('hex')}`

function openNamed(server: { url: string; release(): Promise<void> }, name: string, poolSize: number): TestDatabase {
  const databaseUrl = withDatabase(server.url, name)
  const ports = { clock: systemClock, rng: systemRng, log: silentLog }
  const pool = { target: { url: databaseUrl }, poolSize, ...ports }
  const database = createDatabase({ ...pool, role: appRole })
  const owner = createDatabase({ ...pool, poolSize: 2 })
  return {
    database,
    owner,
    databaseUrl,
    copy: async () => {
      const copied = newName()
      await onServer(server.url, async (client) => {
        // The pools reconnect when they are used again.
        await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
        await client.query(`create database ${copied} template ${name}`)
      })
      return openNamed(await sharedServer(), copied, poolSize)
    },
    close: async () => {
      await Promise.all([database.close(), owner.close()])
      await onServer(server.url, (client) => client.query(`drop database if exists ${name} with (force)`))
      await server.release()
    },
  }
}

let lazy: { server: Promise<TestServer>; users: number } | undefined

/** The run's server, or, for a file run without the global setup, one that stops with its last user. */
async function sharedServer(): Promise<{ url: string; release(): Promise<void> }> {
  const announced = process.env[testServerVariable]
  if (announced) return { url: announced, release: async () => {} }
  lazy ??= { server: startTestServer(), users: 0 }
  const mine = lazy
  mine.users += 1
  const { url, stop } = await mine.server
  return {
    url,
    release: async () => {
      mine.users -= 1
      if (mine.users > 0) return
      if (lazy === mine) lazy = undefined
      await stop()
    },
  }
}

let allMigrations: Promise<Migration[]> | undefined

/** Cloning a migrated database takes a fraction of migrating one. One at a time: PostgreSQL wants the template unused. */
async function cloneTemplate(serverUrl: string, name: string): Promise<void> {
  allMigrations ??= allOwners().then(readMigrations)
  const migrations = await allMigrations
  const template = `template_${sha256(migrations.map((one) => one.sha256).join())
    .toString('hex')
    .slice(0, 16)}`
  await onServer(serverUrl, async (client) => {
    await client.query('select pg_advisory_lock(1634952033, 9)')
    const { rowCount } = await client.query('select from pg_database where datname = $1', [template])
    if (rowCount === 0) {
      const draft = `draft_${name}`
      await client.query(`create database ${draft}`)
      await prepareDatabase({ url: withDatabase(serverUrl, draft) }, migrations)
      await client.query(`alter database ${draft} rename to ${template}`)
    }
    await client.query(`create database ${name} template ${template} strategy file_copy`)
    await client.query('select pg_advisory_unlock(1634952033, 9)')
  })
}

/** Anyone who brings tables: the till, and every folder `migrations` of the node, named after the folder it is in. */
export async function allOwners(): Promise<MigrationOwner[]> {
  const node = fileURLToPath(new URL('../../../node/src/', import.meta.url))
  const entries = await readdir(node, { recursive: true, withFileTypes: true })
  const folders = entries.filter((entry) => entry.name === 'migrations' && entry.isDirectory())
  const owners = folders.map(({ parentPath }) => ownerOf(pathToFileURL(`${parentPath}/migrations/`)))
  // npm run shops takes one out at a time, with its tables.
  const without = new Set(process.env['ASSAY_WITHOUT_SHOPS']?.split(','))
  return [tillMigrations, ...owners.filter(({ name }) => !without.has(name))]
}

/** The types of the driver leave these two out. */
type Client = Awaited<ReturnType<typeof connectClient>> & { ref(): void; unref(): void }

let session: { url: string; client: Client } | undefined
let last: Promise<unknown> = Promise.resolve()

/** One after the other in one session of this process: tests make and drop hundreds of databases. */
function onServer<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const result = last.then(() => inSession(url, work))
  last = result.catch(() => {})
  return result
}

async function inSession<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  if (session?.url !== url) {
    session?.client.end().catch(() => {})
    const client = (await connectClient({ url })) as Client
    session = { url, client }
    // A server that was killed takes it along, and the next one to ask connects again.
    client.once('end', () => {
      if (session?.client === client) session = undefined
    })
  }
  const { client } = session
  client.ref()
  try {
    return await work(client)
  } catch (error) {
    // With it go its locks.
    session = undefined
    await client.end().catch(() => {})
    throw error
  } finally {
    // The process may end although it is open.
    client.unref()
  }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
