import pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import { type ConnectionTarget, clientConfig, type RunQuery, type SessionSettings } from './connection.ts'
import type { QueryResult, Sql, Statement } from './database.ts'
import { sqlStateOf, wasRefusedByServer } from './errors.ts'

/** While something reads from the replica, the primary is asked this often how far it has written. */
const markEveryMs = 200
const marksMax = 512
/** After the replica could not be reached, the primary answers alone for this long. */
const pauseMs = 2_000
const readOnlyTransaction = '25006'

export type ReplicaOptions = {
  /** A standby, or a proxy before several: each connection is checked by itself. */
  target: ConnectionTarget
  settings?: SessionSettings
  poolSize: number
  run: RunQuery
  primary: Sql
  clock: Clock
  log: Log
}

export type Replica = {
  /** Reads rows that lack at most what was committed in the last `msMax`; from the primary where no replica can promise it. */
  within(msMax: number): Sql
  close(): Promise<void>
}

/** Up to where a server has written or replayed its log, and which log: another timeline's positions mean nothing here. */
type Position = { history: string; bytes: bigint }
type Mark = Position & { atMs: number }
/** What one connection has: all that was committed before `holdsUntilMs` was visible at `askedAtMs`. */
type Seen = { askedAtMs: number; holdsUntilMs: number }

const primaryPosition = `select system_identifier || '/' || ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int as history,
    pg_current_wal_lsn() - '0/0' as bytes
  from pg_control_system()`
/** The timeline is that of the last restart point, so after a failover a replica counts only once it has made one. */
const replicaPosition = `select system_identifier || '/' || timeline_id as history, pg_last_wal_replay_lsn() - '0/0' as bytes
  from pg_control_system(), pg_control_checkpoint() where pg_is_in_recovery()`

/** How far the primary had written, and when it was asked. */
function followPrimary(primary: Sql, clock: Clock) {
  let marks: Mark[] = []
  let asking: Promise<void> | undefined
  return {
    newest: () => marks.at(-1),
    /** The newest that a server at this position has reached. */
    upTo: (reached: Position) =>
      marks.findLast(({ history, bytes }) => history === reached.history && bytes <= reached.bytes),
    ask(): void {
      const atMs = clock.monotonicMs()
      if (asking || atMs - (marks.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY) < markEveryMs) return
      asking = primary
        .query<{ history: string; bytes: string }>(primaryPosition)
        .then(
          ({ rows: [row] }) => {
            if (row) marks = [...marks.slice(1 - marksMax), { history: row.history, bytes: BigInt(row.bytes), atMs }]
          },
          () => {},
        )
        .finally(() => {
          asking = undefined
        })
    },
    idle: async () => asking,
  }
}

/**
 * Reads that may lag, taken off the primary. How far a replica is behind is never taken from its own clock or word:
 * the primary's position is noted with our time before it was asked, and a replica that has replayed a position
 * holds everything committed before that time.
 */
export function openReplica(options: ReplicaOptions): Replica {
  const { primary, clock, log, run } = options
  const pool = new pg.Pool({
    ...clientConfig(options.target, options.settings),
    max: options.poolSize,
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: pauseMs,
  })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const seenBy = new WeakMap<pg.PoolClient, Seen>()
  const written = followPrimary(primary, clock)
  let pausedUntilMs = Number.NEGATIVE_INFINITY
  let reachable = true

  const askPosition = async (client: pg.PoolClient): Promise<Seen> => {
    const askedAtMs = clock.monotonicMs()
    const { rows } = await run<{ history: string; bytes: string | null }>(client, replicaPosition)
    const found = rows[0]
    const position = found?.bytes ? { history: found.history, bytes: BigInt(found.bytes) } : undefined
    const held = position && written.upTo(position)
    const seen = { askedAtMs, holdsUntilMs: held?.atMs ?? Number.NEGATIVE_INFINITY }
    seenBy.set(client, seen)
    return seen
  }

  /** True when this connection's server holds all that was committed longer ago than the bound. */
  const holds = async (client: pg.PoolClient, msMax: number): Promise<boolean> => {
    const isFresh = (seen: Seen | undefined) => seen !== undefined && clock.monotonicMs() - seen.holdsUntilMs <= msMax
    const seen = seenBy.get(client)
    if (isFresh(seen)) return true
    const newest = written.newest()
    // Without a newer position of the primary the replica could not show that it went on.
    if (newest === undefined || (seen !== undefined && seen.askedAtMs >= newest.atMs)) return false
    return isFresh(await askPosition(client))
  }

  const rest = (error: unknown): void => {
    pausedUntilMs = clock.monotonicMs() + pauseMs
    if (reachable)
      log.warn({ error: (error as Error).message }, 'the replica cannot be used; the primary answers its reads')
    reachable = false
  }

  const read = async <Row>(
    msMax: number,
    statement: string | Statement,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>> => {
    written.ask()
    if (clock.monotonicMs() < pausedUntilMs || written.newest() === undefined)
      return primary.query<Row>(statement, values)
    let client: pg.PoolClient | undefined
    try {
      client = await pool.connect()
      const usable = await holds(client, msMax)
      const result = usable ? await run<Row>(client, statement, values) : undefined
      client.release()
      reachable = true
      if (result) return result
    } catch (error) {
      const refused = wasRefusedByServer(error)
      client?.release(!refused)
      // It would have changed something: a mistake of ours, and not for the primary to make good.
      if (sqlStateOf(error) === readOnlyTransaction) throw error
      if (!refused) rest(error)
    }
    // Reading twice does no harm, and what is wrong with the statement itself the primary says too.
    return primary.query<Row>(statement, values)
  }

  return {
    within: (msMax) => ({ query: (statement, values) => read(msMax, statement, values) }),
    close: async () => {
      await written.idle()
      await pool.end()
    },
  }
}
