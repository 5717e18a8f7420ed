import { link, readFile, realpath, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type ConnectionTarget, connectClient } from '../connection.ts'
import { sqlStateOf } from '../errors.ts'
import type { Credentials } from './create-cluster.ts'
import { dataFolderOf, type Place } from './place.ts'
import { runTool } from './tools.ts'

export type RunningServer = { port: number; socketFolder: string; local: ConnectionTarget }

export type Finding =
  | { state: 'none' }
  /** A pid file whose process is not our server: left by a crash, its number perhaps taken by another program. */
  | { state: 'stale' }
  /** It answers that it starts (perhaps recovering from a crash) or stops: to be waited for. */
  | { state: 'changing' }
  /** Our server's process is there and answers nobody. */
  | { state: 'silent' }
  | { state: 'serving'; server: RunningServer }

/**
 * Is a server running on this data folder? The pid file only says where to ask: what counts is who answers with our
 * password and names our folder.
 */
export async function findRunning(place: Place, credentials: Credentials): Promise<Finding> {
  const noted = await readPidFile(place)
  if (!noted) return { state: 'none' }
  const { port, socketFolder } = noted
  // A server that starts notes its socket after its port: asked before that, it would be talked to over TCP for good.
  for (const host of port && socketFolder ? [socketFolder, '127.0.0.1'] : []) {
    const local = { ...credentials, host, port, database: 'postgres' }
    const answer = await ask(local, place)
    if (answer === 'ours') return { state: 'serving', server: { port, socketFolder, local } }
    if (answer === 'changing') return { state: 'changing' }
  }
  return { state: (await isOurProcess(noted.pid, place)) ? 'silent' : 'stale' }
}

/** Something else may listen at a port noted long ago and never speak. */
const answerWithinMs = 3_000

type PidFile = { pid: number; port: number; socketFolder: string }

const pidFileOf = (place: Place) => join(dataFolderOf(place), 'postmaster.pid')

/** Lines of postmaster.pid: pid, data folder, start time, port, socket folder, listen address, shared memory, status. */
async function readPidFile(place: Place): Promise<PidFile | undefined> {
  const text = await readFile(pidFileOf(place), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const lines = text.split('\n').map((line) => line.trim())
  return { pid: Number(lines[0]), port: Number(lines[3] ?? 0) || 0, socketFolder: lines[4] ?? '' }
}

async function ask(target: ConnectionTarget, place: Place): Promise<'ours' | 'changing' | 'other'> {
  try {
    const client = await connectClient(target, {}, answerWithinMs)
    try {
      const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`)
      const folders = await Promise.all([rows[0]?.folder ?? '', dataFolderOf(place)].map((path) => realpath(path)))
      return folders[0] === folders[1] ? 'ours' : 'other'
    } finally {
      await client.end()
    }
  } catch (error) {
    // cannot_connect_now, admin_shutdown
    return ['57P03', '57P01'].includes(sqlStateOf(error) ?? '') ? 'changing' : 'other'
  }
}

/** The command line tells a server of ours from a stranger who got its number after a reboot. */
async function isOurProcess(pid: number, place: Place): Promise<boolean> {
  if (!Number.isSafeInteger(pid) || pid < 2) return false
  const fromProc = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined)
  if (fromProc !== undefined) {
    const args = fromProc.split('\0')
    return args[0]?.endsWith('postgres') === true && args.includes(dataFolderOf(place))
  }
  // Systems without /proc.
  const { output } = await runTool('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => ({ output: '' }))
  return output.includes('postgres') && output.includes(dataFolderOf(place))
}

/** Removes a pid file that belongs to no server of ours, and puts it back if another start replaced it meanwhile. */
export async function setStalePidFileAside(place: Place): Promise<void> {
  const path = pidFileOf(place)
  const aside = `${path}.stale`
  const before = await readFile(path, 'utf8').catch(() => undefined)
  if (before === undefined) return
  await rename(path, aside)
  if ((await readFile(aside, 'utf8')) !== before) await link(aside, path)
  await rm(aside, { force: true })
}
