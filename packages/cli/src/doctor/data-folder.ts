import { access, constants, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Config } from '@assay/node'
import type { Node } from '../load-node.ts'
import { type Check, fail, ok, warn } from './check.ts'
import { checkRestore } from './restore.ts'

const roomBytesWanted = 2_000_000_000
const roomBytesMin = 300_000_000

export async function checkData(node: Node, config: Config): Promise<Check[]> {
  const existing = await nearestFolder(config.home)
  return [
    await checkFolder(config.home, existing),
    await checkRoom(existing),
    await checkDatabase(node, config),
    ...(await checkLog(node, config)),
    ...(await checkByDatabase(node, config, checkRestore)),
  ]
}

async function checkFolder(home: string, existing: string): Promise<Check> {
  const writable = await access(existing, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!writable) return fail('data folder', `${existing} cannot be written`, 'make it writable, or set ASSAY_HOME')
  return ok('data folder', existing === home ? home : `${home}, made by the first start`)
}

async function checkRoom(folder: string): Promise<Check> {
  const { bavail, bsize } = await statfs(folder)
  const bytes = bavail * bsize
  const text = `${(bytes / 1e9).toFixed(1)} GB free at ${folder}`
  const fix = 'make room, or move the data folder with ASSAY_HOME: a database without room stops'
  if (bytes < roomBytesMin) return fail('disk', text, fix)
  return bytes < roomBytesWanted ? warn('disk', text, fix) : ok('disk', text)
}

/** Past a pooler, whose sessions take no settings. */
export const databaseUrlOf = async (node: Pick<Node, 'readNote'>, config: Config) =>
  config.databaseUrlDirect ?? config.databaseUrl ?? (await node.readNote({ home: config.home }))?.database_url

type Client = Awaited<ReturnType<Node['connectClient']>>

/** What the database says. Nothing where there is none, or one that is not set up. */
export async function checkByDatabase(
  node: Node,
  config: Config,
  read: (client: Client) => Promise<Check[]>,
): Promise<Check[]> {
  const url = await databaseUrlOf(node, config)
  const client = url === undefined ? undefined : await node.connectClient({ url }, {}, 4_000).catch(() => undefined)
  if (client === undefined) return []
  return read(client)
    .catch(() => [])
    .finally(() => client.end())
}

/** Whether the log signs. */
function checkLog(node: Node, config: Config): Promise<Check[]> {
  return checkByDatabase(node, config, async (client) => {
    const { rows } = await client.query<{ forked: string | null; unchecked: boolean }>(
      `select fork_reason as forked, exists (
         select from restore_gap where noticed_at > coalesce(checked_at, '-infinity')) as unchecked from log_tree`,
    )
    const [log] = rows
    const name = 'transparency log'
    if (!log) return []
    if (log.forked !== null) return [fail(name, `stopped: ${log.forked}`, 'assay log status, then assay log repair')]
    if (log.unchecked)
      return [
        fail(name, 'stopped until a witness answers after the restore', 'check the witnesses, or assay log resume'),
      ]
    return [ok(name, 'it extends every head that others are known to hold')]
  })
}

async function checkDatabase(node: Node, config: Config): Promise<Check> {
  const url = config.databaseUrl ?? (await databaseUrlOf(node, config))
  if (url === undefined) return ok('database', 'none yet; the first start makes one')
  try {
    const client = await node.connectClient({ url }, {}, 4_000)
    const { rows } = await client.query<{ version: string; ready: boolean }>(
      `select current_setting('server_version') as version, to_regclass('public.instance') is not null as ready`,
    )
    await client.end()
    return ok('database', `PostgreSQL ${rows[0]?.version} answers${rows[0]?.ready ? '' : ', not set up yet'}`)
  } catch (error) {
    if (config.databaseUrl === undefined) return ok('database', 'not running; `assay up` starts it')
    const { message } = error as Error
    return fail('database', `cannot be reached: ${message}`, 'check DATABASE_URL, the server and the network between')
  }
}

async function nearestFolder(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    const found = await stat(folder).catch(() => undefined)
    if (found?.isDirectory() || folder === dirname(folder)) return folder
  }
}
