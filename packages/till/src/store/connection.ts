import pg from 'pg'
import type { QueryResult, Statement } from './database.ts'

/** Where a database is and who logs in; `url` for a given server, the rest for the embedded one. */
export type ConnectionTarget =
  | { url: string }
  | { host: string; port: number; user: string; password: string; database: string }

const connectWithinMs = 10_000

export type SessionSettings = Record<string, string | number>

/** OIDs of the types that JavaScript would otherwise round or shift. */
const oid = { int8: 20, date: 1082, int8Array: 1016, xid8: 5069 } as const

const readStringArray = (pg.types.getTypeParser as (id: number) => (text: string) => (string | null)[])(1009)

const parsers = new Map<number, (text: string) => unknown>([
  [oid.int8, BigInt],
  [oid.xid8, BigInt],
  // A date has no zone; the driver's Date would move it by the machine's own.
  [oid.date, (text) => text],
  [oid.int8Array, (text) => readStringArray(text).map((item) => item && BigInt(item))],
])

const types = {
  getTypeParser(id: number, format?: 'text' | 'binary') {
    const own = format === 'binary' ? undefined : parsers.get(id)
    return own ?? pg.types.getTypeParser(id, format as 'text')
  },
} as pg.CustomTypesConfig

/** Driver configuration with session settings given at startup, so that no round trip is spent on SET. */
export function clientConfig(target: ConnectionTarget, settings: SessionSettings = {}): pg.ClientConfig {
  const common = {
    types,
    keepAlive: true,
    connectionTimeoutMillis: connectWithinMs,
    application_name: 'assay',
  }
  const own = Object.entries(settings).map(([name, value]) => `-c ${name}=${String(value).replace(/([\\ ])/g, '\\$1')}`)
  if (!('url' in target)) return { ...common, ...target, ssl: false, options: own.join(' ') }
  const url = new URL(target.url)
  // Options of the URL would replace ours in the driver: both are wanted, ours last.
  const given = url.searchParams.get('options')
  url.searchParams.delete('options')
  return { ...common, connectionString: url.href, options: [...(given ? [given] : []), ...own].join(' ') }
}

/** A connected client, or an error with nothing left open. */
export async function connectClient(
  target: ConnectionTarget,
  settings?: SessionSettings,
  connectionTimeoutMillis = connectWithinMs,
): Promise<pg.Client> {
  const client = new pg.Client({ ...clientConfig(target, settings), connectionTimeoutMillis })
  // Without a listener a broken idle connection would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

/** The driver's form of our statement. */
function toQueryConfig(statement: string | Statement, values?: readonly unknown[]): pg.QueryConfig {
  return typeof statement === 'string'
    ? { text: statement, values: values as unknown[] }
    : { text: statement.text, values: (statement.values ?? values) as unknown[] }
}

const preparedMax = 1_000
const names = new Map<string, string>()
const metOnce = new Set<string>()

/** One statement that the server can plan, whose columns stay the same when a table gets another one. */
const isPreparable = (text: string) =>
  /^\s*(select|with|insert|update|delete)\b/i.test(text) &&
  !text.includes(';') &&
  !/(\bselect|\breturning|,)\s*(\w+\.)?\*(?!\s*from\s+\w+\()/i.test(text)

/**
 * A statement that comes again is prepared under a name on each connection that meets it: parsing and planning take
 * longer than running it. How many are named is bounded, and what a caller composes once is not among them.
 */
function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined) return known
  if (!metOnce.delete(text)) {
    if (metOnce.size >= preparedMax) metOnce.clear()
    metOnce.add(text)
    return undefined
  }
  if (names.size >= preparedMax || !isPreparable(text)) return undefined
  const name = `s${names.size}`
  names.set(text, name)
  return name
}

export type RunQuery = typeof runQuery

/** Behind a transaction pooler the next statement may meet another session, which knows no name we prepared. */
export const runUnnamed: RunQuery = (client, statement, values) => run(client, toQueryConfig(statement, values))

export const runQuery = <Row>(
  client: pg.ClientBase,
  statement: string | Statement,
  values?: readonly unknown[],
): Promise<QueryResult<Row>> => {
  const config = toQueryConfig(statement, values)
  const name = (typeof statement === 'string' ? undefined : statement.name) ?? nameOf(config.text)
  return run(client, name === undefined ? config : { ...config, name })
}

async function run<Row>(client: pg.ClientBase, config: pg.QueryConfig): Promise<QueryResult<Row>> {
  const result = await client.query(config)
  // A text of several statements gives a list of results: the last one is the answer.
  const last = Array.isArray(result) ? (result.at(-1) as pg.QueryResult) : result
  return { rows: last.rows as Row[], rowCount: last.rowCount ?? 0 }
}
