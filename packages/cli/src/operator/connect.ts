import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CliError, exitCodes } from '../exit-codes.ts'
import { loadNode, type Node } from '../load-node.ts'
import type { Terminal } from '../terminal.ts'

/** The books of the node that this environment configures, whether it runs here or elsewhere. */
export type Operator = {
  node: Node
  config: ReturnType<Node['parseConfig']>
  database: ReturnType<Node['createDatabase']>
  /** The login of the owner, past any pooler. */
  databaseUrl: string
  /** For the audit log: who sat at this terminal. */
  actor: string
  /** The embedded database was started for this command alone: no node is there to act on what is written. */
  stopped: boolean
}

/**
 * Connects beside the running node and takes no lock: the folder stays its own. The embedded database of a node that is
 * stopped is started for the command and stopped after it. Nothing is migrated or created, so a command can never change
 * what a node of another version works on.
 */
export async function withOperator<T>(terminal: Terminal, work: (operator: Operator) => Promise<T>): Promise<T> {
  // Loaded here and not at the top: buyers need none of it.
  const node = await loadNode()
  const config = node.parseConfig(terminal.env)
  const server =
    config.databaseUrl === undefined
      ? await embeddedServer(node, terminal, config.home)
      : { url: config.databaseUrlDirect ?? config.databaseUrl, stopped: false, close: async () => {} }
  try {
    const { url, stopped } = server
    const role = await checkDatabase(node, url)
    const { systemClock: clock, systemRng: rng, silentLog: log } = node
    const database = node.createDatabase({ target: { url }, poolSize: 2, clock, rng, log, ...(role ? { role } : {}) })
    const actor = `cli ${terminal.env.USER ?? terminal.env.LOGNAME ?? 'operator'}`
    try {
      return await work({ node, config, database, databaseUrl: url, actor, stopped })
    } finally {
      await database.close()
    }
  } finally {
    await server.close()
  }
}

type Server = { url: string; stopped: boolean; close(): Promise<void> }

/** A command never makes a database: it starts the one that a node made, in its folder or where the pointer says. */
const hasCluster = (home: string) => ['postgres', 'postgres.location.json'].some((name) => existsSync(join(home, name)))

async function embeddedServer(node: Node, terminal: Terminal, home: string): Promise<Server> {
  const { database_url: url } = await noteOf(node, home)
  const running = await node.connectClient({ url }, {}, 5_000).catch(() => undefined)
  if (running) {
    await running.end()
    return { url, stopped: false, close: async () => {} }
  }
  if (!hasCluster(home))
    throw new CliError(exitCodes.failed, 'database_unreachable', `the database of ${home} is not running`, {
      hint: 'Start the node with `assay up`; it brings its database.',
    })
  terminal.say(`the node of ${home} is stopped; its database is started for this command`)
  const { systemClock: clock, systemRng: rng, silentLog: log } = node
  const nothing = () => {}
  const server = await node
    .runEmbedded({ home, clock, rng, log, onProgress: nothing, onLockLost: nothing })
    .catch((cause: unknown) => {
      throw new CliError(exitCodes.failed, 'database_unreachable', `the database of ${home} cannot be started`, {
        hint: `${(cause as Error).message}. A node may be starting there: try again, or run \`assay doctor\`.`,
        cause,
      })
    })
  return { url: server.databaseUrl, stopped: true, close: () => server.stop() }
}

async function noteOf(node: Node, home: string): Promise<{ database_url: string }> {
  const note = await node.readNote({ home })
  if (note !== undefined) return note
  throw new CliError(exitCodes.failed, 'no_node', `no node has been started with the data folder ${home}`, {
    hint: 'Start one with `assay up`, or say where its data are with ASSAY_HOME or DATABASE_URL.',
  })
}

/** Is it up, is it ours, and which role may we work as? */
async function checkDatabase(node: Node, url: string): Promise<string | undefined> {
  const client = await node.connectClient({ url }, {}, 5_000).catch((cause: unknown) => {
    throw new CliError(
      exitCodes.failed,
      'database_unreachable',
      `the database cannot be reached: ${(cause as Error).message}`,
      { hint: 'Check DATABASE_URL and the server.', cause },
    )
  })
  try {
    const { rows } = await client.query<{ ready: boolean; role: boolean }>(
      `select to_regclass('public.ledger_entry') is not null as ready,
         exists (select from pg_roles where rolname = $1 and pg_has_role(current_user, oid, 'member')) as role`,
      [node.appRole],
    )
    if (!rows[0]?.ready)
      throw new CliError(exitCodes.failed, 'database_empty', 'this database has no books yet', {
        hint: 'The first start of a node sets it up: `assay up`.',
      })
    return rows[0].role ? node.appRole : undefined
  } finally {
    await client.end()
  }
}
