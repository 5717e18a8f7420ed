import pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Rng } from '../kernel/random.ts'
import { type ConnectionTarget, clientConfig, runQuery, runUnnamed, type SessionSettings } from './connection.ts'
import type { Database, Sql, Statement } from './database.ts'
import { CommitUnknown, cannotWrite, StoreError, StoreUnavailable, wasRefusedByServer } from './errors.ts'
import { holdLock } from './hold-lock.ts'
import { createListener } from './listener.ts'
import { openReplica } from './replica.ts'
import { runTransaction } from './transaction.ts'

export type PoolOptions = {
  target: ConnectionTarget
  /**
   * The same database past a pooler that lends a session for one transaction only. What lasts longer goes here:
   * notifications and locks of a session. Role and limits of pooled sessions are then those of the login.
   */
  direct?: ConnectionTarget
  /** `target` is such a pooler and nothing leads past it. */
  pooled?: boolean
  /** A standby of it, for reads that may lag. */
  replica?: ConnectionTarget
  /** The role every session works as; the login itself when absent. */
  role?: string
  poolSize?: number
  statementTimeoutMs?: number
  clock: Clock
  rng: Rng
  log: Log
}

export const poolSizeDefault = 10

/** Limits of every session, so that no abandoned statement or transaction can hold a lock for ever. */
function sessionSettings(options: PoolOptions): SessionSettings {
  return {
    ...(options.role === undefined ? {} : { role: options.role }),
    statement_timeout: options.statementTimeoutMs ?? 30_000,
    lock_timeout: 10_000,
    idle_in_transaction_session_timeout: 60_000,
    TimeZone: 'UTC',
  }
}

export function createDatabase(options: PoolOptions): Database {
  const lasting = options.direct ?? options.target
  const pooled = options.pooled === true
  const throughPooler = pooled || options.direct !== undefined
  const run = throughPooler ? runUnnamed : runQuery
  const session = throughPooler ? {} : { settings: sessionSettings(options) }
  const poolSize = options.poolSize ?? poolSizeDefault
  const pool = new pg.Pool({
    ...clientConfig(options.target, session.settings),
    max: poolSize,
    idleTimeoutMillis: 60_000,
  })
  let closing = false
  pool.on('error', (error) => {
    // The server may report an error on a connection that is being closed; it is ignored.
    if (!closing) options.log.warn({ error: error.message }, 'an idle database connection was lost')
  })
  // The pool listens only to idle connections; one that breaks while lent out would otherwise end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const listener = createListener({ ...options, target: lasting })

  const connect = async (): Promise<pg.PoolClient> => {
    try {
      return await pool.connect()
    } catch (error) {
      throw new StoreUnavailable(error)
    }
  }

  const query: Sql['query'] = async <Row>(statement: string | Statement, values?: readonly unknown[]) => {
    const client = await connect()
    try {
      const result = await run<Row>(client, statement, values)
      client.release()
      return result
    } catch (error) {
      const refused = wasRefusedByServer(error)
      // Behind one address the next connection may lead to a server that can write.
      client.release(!refused || cannotWrite(error))
      if (cannotWrite(error)) throw new StoreUnavailable(error)
      throw refused ? error : new CommitUnknown(error)
    }
  }

  const { replica: target, clock, log } = options
  const replica = target && openReplica({ target, ...session, poolSize, run, primary: { query }, clock, log })

  return {
    query,
    ...(replica ? { within: replica.within } : {}),
    transaction: (work) => runTransaction({ connect, run, clock: options.clock, rng: options.rng }, work),
    pooled,
    listen: pooled ? async () => async () => {} : listener.listen,
    holdLock: async (key) => {
      if (pooled) throw new StoreError('a lock of a session cannot be held through a transaction pooler')
      return holdLock(lasting, key)
    },
    close: async () => {
      closing = true
      await listener.close()
      await replica?.close()
      await pool.end()
    },
  }
}
