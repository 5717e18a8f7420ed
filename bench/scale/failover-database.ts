import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectClient } from '../../packages/till/src/store/connection.ts'
import { freePort } from '../../packages/till/src/store/embedded/free-port.ts'
import { chooseRunUser } from '../../packages/till/src/store/embedded/run-user.ts'
import { asUser, type RunUser, runTool, toolEnvironment } from '../../packages/till/src/store/embedded/tools.ts'
import { closeOnSignal } from '../process/on-signal.ts'

export type Member = {
  name: string
  /** Its data; a separate file system where we may mount one. */
  folder: string
  start(): void
  /** The machine is gone: Patroni and every process of PostgreSQL at once. */
  kill(): Promise<void>
  /** Runs pgBackRest there. */
  backUp(command: readonly string[]): Promise<void>
  /** Patroni is stopped: it renews nothing and answers nobody, while PostgreSQL goes on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
}

export type FailoverDatabase = {
  databaseUrl: string
  /** Leads to one of the standbys. */
  replicaUrl: string
  password: string
  members: readonly Member[]
  /** Whether the members have file systems that can be filled. */
  mounted: boolean
  /** The member that holds the key of the leader. */
  leader(): Promise<Member | undefined>
  /** A leader that was not `before`. */
  nextLeader(before: Member): Promise<void>
  /** All members run, and one is the synchronous standby. */
  healthy(): Promise<void>
  /** The time of the leader. */
  now(): Promise<string>
  /** As the superuser, at the leader. */
  admin(text: string): Promise<void>
  stop(): Promise<void>
}

export type Programs = Record<'etcd' | 'patroni' | 'haproxy', string>

const templates = join(import.meta.dirname, '..', '..', 'deploy', 'failover')
const address = '127.0.0.1'
const memberSize = '768m'
const waitMsMax = 180_000

export type FailoverOptions = {
  /** For the superuser and for our login. A restored database keeps the passwords it had. */
  password?: string
  /** Commits are archived there, for all clusters that name it. */
  repository?: string
  /** Begins with what is in the repository, as it was at this time, instead of empty. */
  restoreTo?: string
}

/** etcd, three members of PostgreSQL under Patroni, and HAProxy before them, from the files in deploy/failover. */
export async function openFailoverDatabase(
  home: string,
  programs: Programs,
  options: FailoverOptions = {},
): Promise<FailoverDatabase> {
  const folder = join(home, options.restoreTo === undefined ? 'failover' : 'restored')
  const user = await chooseRunUser()
  const closing: (() => Promise<unknown>)[] = []
  const stop = async () => {
    removeHandler()
    for (const undo of closing.splice(0).reverse()) await undo()
  }
  const removeHandler = closeOnSignal(stop)
  const ports = {
    etcd: await freePort(),
    peer: await freePort(),
    haproxy: await freePort(),
    replicas: await freePort(),
  }
  const { password = randomBytes(12).toString('hex'), repository = folder, restoreTo = '' } = options
  await mkdir(folder)
  await chmod(folder, 0o755)
  try {
    const etcdUrl = `http://${address}:${ports.peer}`
    const etcdEnv = await fill('etcd.env', {
      ...{ NAME: 'one', ADDRESS: address, ETCD_DATA_DIR: await ownFolder(folder, 'etcd', user) },
      ...{ ETCD_PORT: ports.etcd, ETCD_PEER_PORT: ports.peer, ETCD_CLUSTER: `one=${etcdUrl}` },
    })
    closing.push(start(programs.etcd, [], user, readEnv(etcdEnv)).end)
    const shared = {
      ...{ ETCD_HOSTS: `${address}:${ports.etcd}`, SUPERUSER_PASSWORD: password, WAL_SIZE: '128MB' },
      ...{ BOOTSTRAP_METHOD: restoreTo ? 'pgbackrest' : 'initdb', RESTORE_TO: restoreTo },
      ...{ ARCHIVE_MODE: options.repository ? 'on' : 'off', REPOSITORY: repository },
    }
    const opened = await Promise.all(
      ['a', 'b', 'c'].map((name) => openMember(programs.patroni, folder, name, shared, user)),
    )
    for (const one of opened) closing.push(one.end)
    const servers = opened.map(({ name, port, rest }) => `  server ${name} ${address}:${port} check port ${rest}`)
    const config = join(folder, 'haproxy.cfg')
    const filling = {
      ...{ ADDRESS: address, HAPROXY_PORT: ports.haproxy, REPLICAS_PORT: ports.replicas },
      SERVERS: servers.join('\n'),
    }
    await writeFile(config, await fill('haproxy.cfg', filling))
    await chmod(config, 0o644)
    closing.push(start(programs.haproxy, ['-db', '-f', config], user).end)
    const database = followCluster(opened, ports, password, stop)
    for (const one of opened) one.start()
    await database.healthy()
    if (!restoreTo) await createLogin(database, password)
    return database
  } catch (error) {
    await stop()
    throw error
  }
}

function followCluster(
  opened: readonly OpenMember[],
  ports: { haproxy: number; replicas: number },
  password: string,
  stop: () => Promise<void>,
): FailoverDatabase {
  const leader = async () => {
    for (const one of opened) if ((await ask(one.rest, 'leader')).status === 200) return one
    return undefined
  }
  const url = (login: string, name: string, port = ports.haproxy) =>
    `postgresql://${login}:${password}@${address}:${port}/${name}`
  const asAdmin = async (text: string) => {
    const client = await connectClient({ url: url('postgres', 'postgres') })
    return client.query(text).finally(() => client.end())
  }
  return {
    databaseUrl: url('assay', 'assay'),
    replicaUrl: url('assay', 'assay', ports.replicas),
    password,
    members: opened,
    mounted: opened.every((one) => one.mounted),
    leader,
    nextLeader: (before) =>
      until('another leader', async () => ((await leader())?.name ?? before.name) !== before.name),
    healthy: () =>
      until('three members, one of them a synchronous standby', async () => {
        const now = await leader()
        const { members = [] } = now ? (await ask(now.rest, 'cluster')).body : {}
        const well = members.filter(({ state }) => state === 'running' || state === 'streaming')
        return well.length === opened.length && well.some(({ role }) => role === 'sync_standby')
      }),
    now: async () => {
      const { rows } = await asAdmin('select clock_timestamp()::text as now')
      return (rows[0] as { now: string }).now
    },
    admin: async (text) => void (await asAdmin(text)),
    stop,
  }
}

/** As docs/deploy.md makes them; each alone, for a database cannot be created in a transaction. */
async function createLogin({ admin }: FailoverDatabase, password: string): Promise<void> {
  for (const text of [
    `create role assay login replication password '${password}'`,
    'create role assay_app nologin',
    'grant assay_app to assay',
    `create database assay owner assay encoding 'UTF8' template template0`,
  ])
    await admin(text)
}

type OpenMember = Member & { port: number; rest: number; mounted: boolean; end(): Promise<void> }

async function openMember(
  patroni: string,
  parent: string,
  name: string,
  shared: Record<string, string>,
  user: RunUser | undefined,
): Promise<OpenMember> {
  const [port, rest] = [await freePort(), await freePort()]
  const folder = await ownFolder(parent, name, user)
  const mounted =
    user !== undefined && (await runTool('mount', mountArgs(user, folder)).catch(() => ({ code: 1 }))).code === 0
  const data = join(folder, 'data')
  const values = { NAME: name, ADDRESS: address, PORT: port, REST_PORT: rest, DATA_DIR: data, SOCKET_DIR: folder }
  const secrets = { REPLICATION_PASSWORD: 'replicator', REWIND_PASSWORD: 'rewinder', NETWORK: `${address}/32` }
  const config = join(folder, 'patroni.yml')
  await writeFile(config, await fill('patroni.yml', { ...shared, ...values, ...secrets }), { mode: 0o600 })
  if (user) await chown(config, user.uid, user.gid)
  const backups = join(folder, 'pgbackrest.conf')
  await writeFile(backups, await fill('pgbackrest.conf', { ...shared, ...values, BACKREST_DIR: folder }))
  await chmod(backups, 0o644)
  const env = { PGBACKREST_CONFIG: backups }
  let running: ReturnType<typeof start> | undefined
  const kill = async () => {
    await running?.end()
    for (const pid of await serverProcesses(data)) killQuietly(pid)
  }
  return {
    ...{ name, folder, port, rest, mounted, kill },
    backUp: async (command) => {
      const { code, output } = await runTool('pgbackrest', ['--stanza=assay', `--config=${backups}`, ...command], user)
      if (code !== 0) throw new Error(`pgbackrest ${command.join(' ')}: ${output}`)
    },
    start: () => {
      running = start(patroni, [config], user, env)
    },
    signal: (signal) => void running?.child.kill(signal),
    end: async () => {
      await kill()
      if (mounted) await runTool('umount', ['-l', folder])
    },
  }
}

const mountArgs = ({ uid, gid }: RunUser, folder: string) => [
  ...['-t', 'tmpfs', '-o', `size=${memberSize},mode=0700,uid=${uid},gid=${gid}`],
  ...['assay-failover', folder],
]

/** The postmaster and its children; each has its own process group. */
async function serverProcesses(data: string): Promise<number[]> {
  const file = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  const postmaster = Number(file.split('\n')[0])
  if (!(postmaster > 1)) return []
  const parents = await Promise.all(
    (await readdir('/proc'))
      .filter((name) => /^\d+$/.test(name))
      .map(async (pid) => {
        const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
        return { pid: Number(pid), parent: Number(stat.split(') ').at(-1)?.split(' ')[1]), name: stat }
      }),
  )
  // The file may name a process that has ended, and its number may be somebody else's since.
  const own = parents.filter(({ pid, name }) => pid === postmaster && name.includes('(postgres)'))
  return [...own, ...(own.length > 0 ? parents.filter(({ parent }) => parent === postmaster) : [])].map(
    ({ pid }) => pid,
  )
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}

function start(program: string, args: readonly string[], user: RunUser | undefined, env: NodeJS.ProcessEnv = {}) {
  const child: ChildProcess = spawn(program, args, {
    cwd: '/',
    env: { ...toolEnvironment(), LC_ALL: 'C.UTF-8', ...env },
    // FAILOVER_LOG=1 shows what the servers say.
    stdio: process.env['FAILOVER_LOG'] ? ['ignore', 'inherit', 'inherit'] : 'ignore',
    detached: true,
    ...asUser(user),
  })
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  const end = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { child, end }
}

async function ownFolder(parent: string, name: string, user: RunUser | undefined): Promise<string> {
  const folder = join(parent, name)
  await mkdir(folder, { mode: 0o700 })
  if (user) await chown(folder, user.uid, user.gid)
  return folder
}

/** The file as an operator has it after envsubst. */
async function fill(name: string, values: Record<string, string | number>): Promise<string> {
  const text = await readFile(join(templates, name), 'utf8')
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'))
  return lines.join('\n').replace(/\$\{([A-Z_]+)\}/g, (_, key: string) => {
    const value = values[key]
    if (value === undefined) throw new Error(`${name} asks for ${key}`)
    return String(value)
  })
}

const readEnv = (text: string): NodeJS.ProcessEnv =>
  Object.fromEntries(
    text
      .split('\n')
      .flatMap((line) =>
        line.includes('=') ? [[line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]] : [],
      ),
  )

type ClusterAnswer = { members?: { name: string; role: string; state: string }[] }

async function ask(port: number, path: string): Promise<{ status: number; body: ClusterAnswer }> {
  try {
    const answer = await fetch(`http://${address}:${port}/${path}`, { signal: AbortSignal.timeout(2_000) })
    return { status: answer.status, body: (await answer.json()) as ClusterAnswer }
  } catch {
    return { status: 0, body: {} }
  }
}

async function until(what: string, reached: () => Promise<boolean>): Promise<void> {
  for (const startedMs = performance.now(); !(await reached()); await sleep(250))
    if (performance.now() - startedMs > waitMsMax)
      throw new Error(`the database cluster has not ${what} after ${waitMsMax / 1000} s`)
}
