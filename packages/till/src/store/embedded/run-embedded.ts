import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import type { Rng } from '../../kernel/random.ts'
import { type ConnectionTarget, connectClient } from '../connection.ts'
import { sqlStateOf } from '../errors.ts'
import { type Credentials, ensureCluster } from './create-cluster.ts'
import type { RunningServer } from './find-running.ts'
import { type OwnerLock, takeOwnerLock } from './owner-lock.ts'
import { choosePlace, type Place } from './place.ts'
import { startOrAdopt, stopServer } from './server.ts'
import { shortFolderPrefix } from './socket-folder.ts'

export type EmbeddedOptions = {
  home: string
  port?: number
  settings?: Record<string, string>
  clock: Clock
  log: Log
  rng: Rng
  onProgress(text: string): void
  onLockLost(): void
}

export type EmbeddedServer = {
  /** Over the private socket. */
  target: ConnectionTarget
  /** Over loopback TCP, for other processes. */
  databaseUrl: string
  place: Place
  stop(): Promise<void>
}

/** The one server on this home folder, held by us until `stop`. */
export async function runEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const chosen = await choosePlace(options.home, options.rng)
  const { place, credentials } = await ensureCluster(chosen, options)
  const remembered = await readNote(place)
  const { server, adopted } = await startOrAdopt({
    place,
    credentials,
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(remembered === undefined ? {} : { rememberedPort: remembered.port }),
    ...(options.settings === undefined ? {} : { settings: options.settings }),
    clock: options.clock,
    onProgress: options.onProgress,
  })
  const lock = await takeOwnerLock({
    target: server.local,
    folder: place.home,
    clock: options.clock,
    log: options.log,
    onLost: options.onLockLost,
  })
  if (adopted) options.onProgress('took over the database that was still running')
  await createDatabaseOnce(server, credentials)
  const databaseUrl = urlOf(server, credentials)
  await writeNote(place, { port: server.port, database_url: databaseUrl })
  return {
    target: { ...server.local, database: credentials.database } as ConnectionTarget,
    databaseUrl,
    place,
    stop: () => stopHeld(place, server, lock),
  }
}

async function stopHeld(place: Place, server: RunningServer, lock: OwnerLock): Promise<void> {
  // Anyone who does not hold the folder any more must leave the server to the one who does.
  if (!lock.held()) return lock.release()
  // The lock stays until the server takes the session down: no other start can come between.
  lock.expectEnd()
  await stopServer(place, 'fast')
  await lock.release()
  if (basename(server.socketFolder).startsWith(shortFolderPrefix)) {
    await rm(server.socketFolder, { recursive: true, force: true })
  }
}

async function createDatabaseOnce(server: RunningServer, credentials: Credentials): Promise<void> {
  const client = await connectClient(server.local)
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [credentials.database])
    if (rowCount === 0) await client.query(`create database ${credentials.database}`)
  } catch (error) {
    if (sqlStateOf(error) !== '42P04') throw error
  } finally {
    await client.end()
  }
}

const urlOf = (server: RunningServer, { user, password, database }: Credentials) =>
  `postgresql://${user}:${password}@127.0.0.1:${server.port}/${database}`

/** What other programs of the operator read to find the running database; for the owner's eyes only. */
type Note = { port: number; database_url: string }

const manifestFile = 'database.json'

export async function readNote(place: Pick<Place, 'home'>): Promise<Note | undefined> {
  const text = await readFile(join(place.home, manifestFile), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as Note
  } catch {
    return undefined
  }
}

async function writeNote(place: Place, note: Note): Promise<void> {
  const path = join(place.home, manifestFile)
  const draft = `${path}.new`
  await writeFile(draft, JSON.stringify(note), { mode: 0o600 })
  await rename(draft, path)
}
