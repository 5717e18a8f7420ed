import { execFileSync, spawn } from 'node:child_process'
import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { joinProgram } from '../kernel/join-program.fixture.ts'
import { silentLog } from '../kernel/log.ts'
import { systemRng } from '../kernel/random.ts'
import { connectClient } from './connection.ts'
import { findRunning } from './embedded/find-running.ts'
import { choosePlace, dataFolderOf } from './embedded/place.ts'
import { chooseRunUser } from './embedded/run-user.ts'
import { openStore, type Store } from './open-store.ts'
import { scratchFolder } from './testing.ts'

// Whole servers are made and killed here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })

const isRoot = process.getuid?.() === 0
const program = await joinProgram(fileURLToPath(new URL('./open-store.fixture.ts', import.meta.url)))
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A home folder that others may pass through, removed with whatever was kept elsewhere for it. */
async function makeHome(name = 'assay-home-', mode = 0o755): Promise<string> {
  const parent = await mkdtemp(join(await scratchFolder(), name))
  await chmod(parent, mode)
  cleanups.push(async () => {
    const pointer = await readFile(join(parent, 'home', 'postgres.location.json'), 'utf8').catch(() => undefined)
    if (pointer) await rm(JSON.parse(pointer).folder, { recursive: true, force: true })
    await rm(parent, { recursive: true, force: true })
  })
  return join(parent, 'home')
}

let used: Promise<string> | undefined
afterAll(async () => {
  if (used) await rm(dirname(await used), { recursive: true, force: true })
})

/** A home that a node has left in order. Making a database takes seconds, and few tests are about the first start. */
async function makeUsedHome(): Promise<string> {
  used ??= (async () => {
    const home = join(await mkdtemp(join(await scratchFolder(), 'assay-used-')), 'home')
    await chmod(dirname(home), 0o755)
    await (await openStore({ home, clock: systemClock, log: silentLog, rng: systemRng })).stop()
    return home
  })()
  const home = await makeHome()
  execFileSync('cp', ['-a', await used, home])
  return home
}

const open = async (home: string, options: Partial<Parameters<typeof openStore>[0]> = {}): Promise<Store> => {
  const store = await openStore({
    home,
    clock: systemClock,
    log: silentLog,
    rng: systemRng,
    ...options,
  })
  let stopped = false
  const stop = async () => {
    if (stopped) return
    stopped = true
    await store.stop()
  }
  cleanups.push(stop)
  return { ...store, stop }
}

type Line = {
  event: string
  text?: string
  databaseUrl: string
  folder: string
  pid: string
  name?: string
  message?: string
}

/** Its own node process, so that it can be killed. */
function startChild(home: string, user: { uid?: number; gid?: number } = {}) {
  const child = spawn(process.execPath, [program, home], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: '/',
    ...user,
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const lines: Line[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line) as Line))
  const stop = async () => {
    child.stdin.end()
    await exited
  }
  cleanups.push(stop)
  return {
    pid: child.pid,
    stop,
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
    /** The first line with one of these events, or texts of progress. */
    until: async (...events: string[]): Promise<Line> => {
      for (let tries = 0; tries < 2_500; tries += 1) {
        const found = lines.find(({ event, text = '' }) => events.includes(event) || events.includes(text))
        if (found) return found
        await systemClock.sleep(10)
      }
      throw new Error(`none of ${events.join(', ')} in ${JSON.stringify(lines)}`)
    },
  }
}

const answers = async (url: string) => {
  const client = await connectClient({ url }).catch(() => undefined)
  await client?.end()
  return client !== undefined
}

test('data survive a restart at the same address, over the socket and over TCP, for the owner only', async () => {
  // Of a very long path the socket has a folder elsewhere.
  const home = join(await makeHome(), 'n'.repeat(60), `${'with space $HOME "q"'}`, 'm'.repeat(40))
  const first = await open(home)
  expect(first).toMatchObject({ embedded: true, restricted: true, problems: [] })
  await first.database.query('select 1')
  const client = await connectClient({ url: first.databaseUrl })
  await client.query('create table kept as select 42 as x')
  const { rows } = await client.query(`select name, setting from pg_settings where name in
    ('fsync', 'synchronous_commit', 'data_checksums', 'full_page_writes', 'password_encryption') order by name`)
  expect(rows.map(({ setting }) => setting)).toEqual(['on', 'on', 'on', 'scram-sha-256', 'on'])
  await client.end()
  const wrong = new URL(first.databaseUrl)
  wrong.password = 'guess'
  expect(await answers(wrong.href)).toBe(false)
  await first.stop()
  expect(await answers(first.databaseUrl)).toBe(false)

  const second = await open(home)
  expect(second.databaseUrl).toBe(first.databaseUrl)
  const joined = await open(home, { databaseUrl: second.databaseUrl })
  expect(joined.embedded).toBe(false)
  expect((await joined.database.query('select x from kept')).rows).toEqual([{ x: 42 }])
  await joined.stop()
  expect((await second.database.query('select x from kept')).rows).toEqual([{ x: 42 }])
  for (const secret of ['database.json', 'postgres/credentials.json']) {
    expect((await stat(join(home, secret))).mode & 0o077, secret).toBe(0)
  }
})

test('a second start on a folder in use fails with a friendly error and does not disturb the first', async () => {
  const home = await makeUsedHome()
  const first = await open(home)
  await expect(open(home)).rejects.toThrow(/already running/)
  expect((await first.database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

test('two first starts at once make one cluster and one owner', async () => {
  const home = await makeHome()
  const nodes = [startChild(home), startChild(home)]
  const outcomes = await Promise.all(nodes.map((node) => node.until('open', 'failed')))
  expect(outcomes.map(({ event }) => event).sort()).toEqual(['failed', 'open'])
  expect(outcomes.find(({ event }) => event === 'failed')?.message).toMatch(/already running/)
  const owner = outcomes.find(({ event }) => event === 'open') as Line
  expect(await answers(owner.databaseUrl)).toBe(true)
  expect((await readdir(home)).sort()).toEqual(['database.json', 'postgres'])
})

test('the server has its own process group; after kill -9 of the node the next start takes it over', async () => {
  const home = await makeUsedHome()
  const killed = startChild(home)
  const before = await killed.until('open')
  const groupOf = async (id: string) => (await readFile(`/proc/${id}/stat`, 'utf8')).split(') ')[1]?.split(' ')[2]
  if (process.platform === 'linux') expect(await groupOf(before.pid)).not.toBe(await groupOf(String(killed.pid)))
  await killed.kill()
  expect(await answers(before.databaseUrl)).toBe(true)
  const next = startChild(home)
  const after = await next.until('open', 'failed')
  expect(after).toMatchObject({ event: 'open', databaseUrl: before.databaseUrl, pid: before.pid })
  await next.stop()
  expect(await answers(before.databaseUrl)).toBe(false)
})

test('kill -9 at any moment of a first start leaves nothing that the next one cannot use', async () => {
  const home = await makeHome()
  const making = 'preparing the database (first start only)'
  const moments = [
    [making, 0],
    // In the middle of it, on most machines.
    [making, 250],
    ['starting the database', 0],
  ] as const
  for (const [said, laterMs] of moments) {
    const killed = startChild(home)
    await killed.until(said, 'open')
    await systemClock.sleep(laterMs)
    await killed.kill()
  }
  const store = await open(home)
  expect((await store.database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

test('a pid file of a crashed server whose number now belongs to another program confuses nobody', async () => {
  const home = await makeUsedHome()
  const first = await open(home)
  await first.stop()
  const user = await chooseRunUser()
  const stranger = spawn('sleep', ['60'], { cwd: '/', ...(user ? { uid: user.uid, gid: user.gid } : {}) })
  cleanups.push(async () => stranger.kill())
  const pidFile = join(home, 'postgres', 'data', 'postmaster.pid')
  await writeFile(pidFile, `${stranger.pid}\n${dirname(pidFile)}\n1700000000\n1\n${home}\n127.0.0.1\n\nready\n`)
  if (user) await chown(pidFile, user.uid, user.gid)
  const second = await open(home)
  expect((await second.database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  expect(stranger.exitCode).toBeNull()
})

test('a server that is asked before it had noted its socket was talked to over TCP for good', async () => {
  const home = await makeUsedHome()
  await open(home)
  const place = await choosePlace(home, systemRng)
  const credentials = JSON.parse(await readFile(join(place.folder, 'credentials.json'), 'utf8'))
  const pidFile = join(dataFolderOf(place), 'postmaster.pid')
  const noted = await readFile(pidFile, 'utf8')
  await writeFile(pidFile, noted.split('\n').slice(0, 4).join('\n'))
  expect(await findRunning(place, credentials)).toEqual({ state: 'silent' })
  await writeFile(pidFile, noted)
  const found = await findRunning(place, credentials)
  expect(found).toMatchObject({ state: 'serving', server: { local: { host: expect.stringMatching(/^\//) } } })
})

test('the owner learns of a lost lock only when it cannot be had again', async () => {
  const home = await makeUsedHome()
  let lost = 0
  const store = await open(home, { onLockLost: () => (lost += 1) })
  const client = await connectClient({ url: store.databaseUrl.replace(/\/assay$/, '/postgres') })
  const held = `select pid from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()`
  const before = (await client.query<{ pid: number }>(held)).rows.map(({ pid }) => pid)
  expect(before).toHaveLength(1)
  await client.query('select pg_terminate_backend($1)', before)
  // The old one is seen for a moment after it was ended.
  await expect
    .poll(async () => (await client.query<{ pid: number }>(held)).rows.filter(({ pid }) => pid !== before[0]).length)
    .toBe(1)
  expect(lost).toBe(0)
  await client.end()
})

test('a port that must be had and is taken stops the start', async () => {
  const first = await open(await makeUsedHome())
  const port = Number(new URL(first.databaseUrl).port)
  await expect(open(await makeUsedHome(), { port })).rejects.toThrow(/port .* is taken/)
})

test.runIf(isRoot)(
  'as root in a folder that only root may enter, the data live where the server can reach them',
  async () => {
    const home = await makeHome('assay-closed-', 0o700)
    const first = await open(home)
    const client = await connectClient({ url: first.databaseUrl })
    await client.query('create table kept (x int)')
    const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`)
    expect(rows[0]?.folder.startsWith(home)).toBe(false)
    await client.end()
    await first.stop()
    const second = await open(home)
    expect((await second.database.query('select from kept')).rowCount).toBe(0)
  },
)

test.runIf(isRoot)('a normal user runs everything under the own account', async () => {
  const user = await chooseRunUser()
  const home = await makeHome()
  await chown(dirname(home), user?.uid ?? 0, user?.gid ?? 0)
  const repositoryIsOpen = ((await stat(fileURLToPath(new URL('.', import.meta.url)))).mode & 0o005) === 0o005
  if (!user || !repositoryIsOpen) return
  const node = startChild(home, { uid: user.uid, gid: user.gid })
  const line = await node.until('open', 'failed')
  expect(line).toMatchObject({ event: 'open' })
  expect((await stat(line.folder)).uid).toBe(user.uid)
  await node.stop()
  const asRoot = await open(home)
  expect((await asRoot.database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})
