import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFile, chmod, chown, mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { prepareBinaries } from '../../packages/till/src/store/embedded/binaries.ts'
import { freePort } from '../../packages/till/src/store/embedded/free-port.ts'
import { chooseRunUser } from '../../packages/till/src/store/embedded/run-user.ts'
import { type RunUser, runTool } from '../../packages/till/src/store/embedded/tools.ts'
import { until } from '../until.ts'

export type Postgres = {
  name: string
  url: string
  /** As a machine that loses power, or in order. */
  stop(how: 'immediate' | 'fast'): Promise<void>
  /** A new server on what a backup has; undefined where this machine has no programs of the server's version. */
  restore?(backup: string): Promise<Postgres>
}

const debian = '/usr/lib/postgresql'

/** Where the programs are: Debian's newest, or those that come with the node. */
async function programs(
  wanted: 'debian' | 'embedded',
  home: string,
): Promise<{ bin: string; user: RunUser | undefined }> {
  const user = await chooseRunUser()
  if (wanted === 'embedded')
    return { bin: dirname((await prepareBinaries(user, [join(home, 'programs')])).postgres), user }
  const versions = (await readdir(debian)).map(Number).sort((a, b) => b - a)
  return { bin: join(debian, String(versions[0]), 'bin'), user }
}

export async function hasDebianPostgres(): Promise<boolean> {
  return readdir(debian).then(
    (entries) => entries.length > 0,
    () => false,
  )
}

/** A separate server on a free port of loopback, with durable settings, for one rehearsal. */
export async function startPostgres(wanted: 'debian' | 'embedded', home: string): Promise<Postgres> {
  const { bin, user } = await programs(wanted, home)
  const password = randomBytes(18).toString('base64url')
  const data = await newFolder(join(home, 'database'), user)
  const secret = join(home, 'database-password')
  await writeFile(secret, password, { mode: 0o600 })
  if (user) await chown(secret, user.uid, user.gid)
  const args = ['-D', data, '-U', 'assay', '-A', 'scram-sha-256', `--pwfile=${secret}`, '-E', 'UTF8', '--no-locale']
  await mustRun(join(bin, 'initdb'), args, user)
  return serve({ bin, user, password, home, name: await versionOf(bin) }, data)
}

/** A server that is there already: a separate database in it, dropped at the end. */
export async function useServer(url: string): Promise<Postgres> {
  const name = `rehearsal_${randomBytes(6).toString('hex')}`
  const version = await withClient(url, async (client) => {
    await client.query(`create database ${name}`)
    return (await client.query<{ v: string }>(`select split_part(version(), ' ', 2) as v`)).rows[0]?.v
  })
  const own = new URL(url)
  own.pathname = `/${name}`
  return {
    name: `PostgreSQL ${version} (given)`,
    url: own.href,
    stop: () => withClient(url, (client) => client.query(`drop database ${name} with (force)`)).then(() => {}),
  }
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

type Setup = { bin: string; user: RunUser | undefined; password: string; home: string; name: string }

async function serve(setup: Setup, data: string): Promise<Postgres> {
  const { bin, user, password, name } = setup
  const port = await freePort()
  const settings = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories='' -c shared_buffers=128MB -c max_connections=200`
  await mustRun(
    join(bin, 'pg_ctl'),
    ['start', '-D', data, '-w', '-t', '60', '-s', '-l', `${data}.log`, '-o', settings],
    user,
  )
  const url = `postgresql://assay:${password}@127.0.0.1:${port}/postgres`
  await until('the database takes connections', () =>
    withClient(url, (client) => client.query('select 1')).then(
      () => true,
      () => false,
    ),
  )
  let running = true
  return {
    name,
    url,
    stop: async (how) => {
      if (!running) return
      running = false
      await mustRun(join(bin, 'pg_ctl'), ['stop', '-D', data, '-m', how, '-w', '-s'], user)
    },
    restore: async (backup) => {
      const restored = await newFolder(join(setup.home, 'restored'), user)
      await unpack(join(backup, 'base.tar'), restored, user)
      const signal = join(restored, 'recovery.signal')
      await writeFile(signal, '', { mode: 0o600 })
      if (user) await chown(signal, user.uid, user.gid)
      await appendFile(join(restored, 'postgresql.auto.conf'), "restore_command = 'false'\n")
      return serve(setup, restored)
    },
  }
}

async function newFolder(path: string, user: RunUser | undefined): Promise<string> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  if (user) await chown(path, user.uid, user.gid)
  // pg_ctl writes the log of the server beside it.
  await writeFile(`${path}.log`, '')
  if (user) await chown(`${path}.log`, user.uid, user.gid)
  return path
}

async function unpack(archive: string, folder: string, user: RunUser | undefined): Promise<void> {
  await chmod(dirname(archive), 0o711)
  await mustRun('tar', ['-x', '-f', archive, '-C', folder], undefined)
  if (user) await mustRun('chown', ['-R', `${user.uid}:${user.gid}`, folder], undefined)
  await chmod(folder, 0o700)
}

async function versionOf(bin: string): Promise<string> {
  const { output } = await runTool(join(bin, 'postgres'), ['--version'])
  return `PostgreSQL ${/\d+(\.\d+)?/.exec(output)?.[0] ?? '?'}`
}

/** Without pipes of ours: a server that pg_ctl leaves behind would hold them open. */
async function mustRun(program: string, args: readonly string[], user: RunUser | undefined): Promise<void> {
  const ids = user ? { uid: user.uid, gid: user.gid } : {}
  const child = spawn(program, args, {
    cwd: '/',
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    ...ids,
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  if (code !== 0) throw new Error(`${program} ${args[0]} ended with ${code}`)
}
