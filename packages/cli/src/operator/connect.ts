import { CliError, exitCodes } from '../exit-codes.ts'
import type { Terminal } from '../terminal.ts'

type Node = typeof import('@assay/node')

/** The books of the node that this environment configures, whether it runs here or elsewhere. */
export type Operator = {
  node: Node
  config: ReturnType<Node['parseConfig']>
  database: ReturnType<Node['createDatabase']>
  /** For the audit log: who sat at this terminal. */
  actor: string
}

/**
 * Connects beside the running node and takes no lock: the folder stays its own. Nothing is migrated or created, so a
 * command can never change what a node of another version works on.
 */
export async function withOperator<T>(terminal: Terminal, work: (operator: Operator) => Promise<T>): Promise<T> {
  // Loaded here and not at the top: buyers need none of it.
  const node = await import('@assay/node')
  const config = node.parseConfig(terminal.env)
  const url = config.databaseUrl ?? (await noteOf(node, config.home)).database_url
  const role = await checkDatabase(node, url, config.databaseUrl === undefined ? config.home : undefined)
  const { systemClock: clock, systemRng: rng, silentLog: log } = node
  const database = node.createDatabase({ target: { url }, poolSize: 2, clock, rng, log, ...(role ? { role } : {}) })
  try {
    return await work({
      node,
      config,
      database,
      actor: `cli ${terminal.env.USER ?? terminal.env.LOGNAME ?? 'operator'}`,
    })
  } finally {
    await database.close()
  }
}

async function noteOf(node: Node, home: string): Promise<{ database_url: string }> {
  const note = await node.readNote({ home })
  if (note !== undefined) return note
  throw new CliError(exitCodes.failed, 'no_node', `no node has been started with the data folder ${home}`, {
    hint: 'Start one with `assay up`, or say where its data are with ASSAY_HOME or DATABASE_URL.',
  })
}

/** Is it up, is it ours, and which role may we work as? */
async function checkDatabase(node: Node, url: string, home: string | undefined): Promise<string | undefined> {
  const client = await node.connectClient({ url }, {}, 5_000).catch((cause: unknown) => {
    throw new CliError(
      exitCodes.failed,
      'database_unreachable',
      home === undefined
        ? `the database cannot be reached: ${(cause as Error).message}`
        : `the database of ${home} is not running`,
      {
        hint:
          home === undefined
            ? 'Check DATABASE_URL and the server.'
            : 'Start the node with `assay up`; it brings its database.',
        cause,
      },
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
