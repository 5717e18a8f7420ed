import { type ChildProcess, spawn } from 'node:child_process'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../kernel/clock.ts'
import { StoreError } from '../errors.ts'
import type { Credentials } from './create-cluster.ts'
import { findRunning, type RunningServer, setStalePidFileAside } from './find-running.ts'
import { freePort, isPortFree } from './free-port.ts'
import { dataFolderOf, type Place } from './place.ts'
import { prepareSocketFolder } from './socket-folder.ts'
import { asUser, runTool, toolEnvironment } from './tools.ts'

export type ServerOptions = {
  place: Place
  credentials: Credentials
  /** Must be had. */
  port?: number
  /** Would be nice, so that addresses stay the same over restarts. */
  rememberedPort?: number
  settings?: Record<string, string>
  clock: Clock
  onProgress(text: string): void
}

/** A process of ours that answers nobody for this long is stopped; recovery from a crash answers, and is waited for. */
const silentForMs = 20_000
const launchesMax = 4

/** A serving server on the data folder: the one that is there already, or a new one. */
export async function startOrAdopt(options: ServerOptions): Promise<{ server: RunningServer; adopted: boolean }> {
  const { clock, place, credentials } = options
  let silentSince: number | undefined
  let child: ServerChild | undefined
  let launches = 0
  for (;;) {
    const finding = await findRunning(place, credentials)
    if (finding.state === 'serving') return { server: finding.server, adopted: !child || child.ended() }
    if (finding.state !== 'silent') silentSince = undefined
    else silentSince ??= clock.monotonicMs()
    if (silentSince !== undefined && clock.monotonicMs() - silentSince > silentForMs) {
      options.onProgress('stopping a database server that does not answer')
      await stopServer(place, 'immediate')
    } else if ((finding.state === 'none' || finding.state === 'stale') && (!child || child.ended())) {
      if (launches >= launchesMax) throw new StoreError(`the database could not be started${await logTail(place)}`)
      // PostgreSQL itself replaces a stale pid file, unless the number now belongs to another process of the same user.
      if (launches > 0 && finding.state === 'stale') await setStalePidFileAside(place)
      if (launches === 0) options.onProgress('starting the database')
      launches += 1
      child = await launch(options, launches)
    }
    await clock.sleep(20)
  }
}

type ServerChild = { ended(): boolean }

async function launch(options: ServerOptions, attempt: number): Promise<ServerChild> {
  const { place } = options
  const port = await choosePort(options, attempt)
  const socketFolder = await prepareSocketFolder(place, port)
  const log = await openLog(place)
  const settings = { ...serverSettings, ...options.settings, port: String(port), unix_socket_directories: socketFolder }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let child: ChildProcess
  try {
    // Its own session: Ctrl-C in our terminal must not reach the server before we have drained.
    child = spawn(place.binaries.postgres, ['-D', dataFolderOf(place), ...args], {
      cwd: '/',
      detached: true,
      env: toolEnvironment(),
      stdio: ['ignore', log.fd, log.fd],
      ...asUser(place.user),
    })
  } finally {
    await log.close()
  }
  let ended = false
  child.once('error', () => {
    ended = true
  })
  child.once('exit', () => {
    ended = true
  })
  child.unref()
  return { ended: () => ended }
}

/** Durable by default. LOG and above only: errors of statements are the caller's and may quote data. */
const serverSettings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_permissions: '0700',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  max_connections: '200',
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  jit: 'off',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  cluster_name: 'assay',
}

async function choosePort(options: ServerOptions, attempt: number): Promise<number> {
  if (options.port) {
    if (await isPortFree(options.port)) return options.port
    throw new StoreError(`port ${options.port} for the database is taken; choose another, or none to let it be found`)
  }
  const remembered = attempt === 1 ? options.rememberedPort : undefined
  return remembered && (await isPortFree(remembered)) ? remembered : freePort()
}

/** Through the server's own tool, which waits until it is down. */
export async function stopServer(place: Place, mode: 'fast' | 'immediate'): Promise<void> {
  const args = ['stop', '-D', dataFolderOf(place), '-m', mode, '-w', '-t', '60', '-s']
  const { code, output } = await runTool(place.binaries.pgCtl, args, place.user)
  if (code !== 0 && !/no server running|does not exist/i.test(output)) {
    throw new StoreError(`the database did not stop: ${output}`)
  }
}

const logBytesMax = 4_000_000

async function openLog(place: Place) {
  const path = join(place.folder, 'server.log')
  const log = await open(path, 'a', 0o600)
  if ((await log.stat()).size < logBytesMax) return log
  await log.close()
  await rename(path, `${path}.1`)
  return open(path, 'a', 0o600)
}

async function logTail(place: Place): Promise<string> {
  const text = await readFile(join(place.folder, 'server.log'), 'utf8').catch(() => '')
  const lines = text.trim().split('\n').slice(-6).join('\n')
  return lines ? `; its log ends with:\n${lines}` : ''
}
