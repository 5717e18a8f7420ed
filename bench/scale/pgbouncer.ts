import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../packages/till/src/store/embedded/free-port.ts'
import { readMigrations, tillMigrations } from '../../packages/till/src/store/migrate.ts'
import { prepareDatabase } from '../../packages/till/src/store/open-store.ts'
import type { Cluster } from './cluster.ts'
import { installIfAbsent } from './install-if-absent.ts'

export type Bouncer = { url: string; version: string; stop(): Promise<void> }

type Pooled = Pick<Cluster, 'databaseUrl' | 'owner' | 'home' | 'adopt'>

const sessions = 8

/** PgBouncer in transaction mode before the cluster's database, logged in as docs/deploy.md says. Undefined where it is missing. */
export async function openBouncer(
  cluster: Pooled,
  install: boolean,
  say: (text: string) => void,
): Promise<Bouncer | undefined> {
  const binary = await installIfAbsent('pgbouncer', install, say)
  if (binary === undefined) return undefined
  const password = randomBytes(16).toString('hex')
  await prepareDatabase({ url: cluster.databaseUrl }, await readMigrations([tillMigrations]))
  await cluster.owner.query(`create role assay_pool login password '${password}' in role assay_app`)
  for (const [name, value] of Object.entries(loginSettings))
    await cluster.owner.query(`alter role assay_pool set ${name} = '${value}'`)
  const port = await freePort()
  const file = await writeConfig(cluster, port, password)
  const child = spawn(binary, [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
  cluster.adopt(stop)
  await listening(child, port)
  const { stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8' })
  return {
    url: `postgresql://assay_pool@127.0.0.1:${port}/assay`,
    version: stdout.split('\n')[0] ?? '',
    stop,
  }
}

/** The limits that a node gives its sessions itself when nothing is between. */
const loginSettings = {
  statement_timeout: '30s',
  lock_timeout: '10s',
  idle_in_transaction_session_timeout: '60s',
  TimeZone: 'UTC',
}

async function writeConfig(cluster: Pooled, port: number, password: string): Promise<string> {
  const { hostname, port: serverPort, pathname } = new URL(cluster.databaseUrl)
  const folder = join(cluster.home, 'pgbouncer')
  await mkdir(folder)
  await chmod(folder, 0o755)
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
assay = host=${hostname} port=${serverPort} dbname=${pathname.slice(1)} user=assay_pool password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${sessions}
max_client_conn = 400
`,
  )
  await chmod(file, 0o644)
  return file
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  let said = ''
  child.stderr?.on('data', (piece: Buffer) => {
    said = `${said}${piece.toString()}`.slice(-2_000)
  })
  for (let tries = 0; tries < 100; tries += 1) {
    if (child.exitCode !== null) break
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve(true)
      })
      socket.once('error', () => resolve(false))
    })
    if (open) return
    await sleep(100)
  }
  child.kill('SIGKILL')
  throw new Error(`pgbouncer did not start: ${said}`)
}
