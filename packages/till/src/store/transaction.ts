import type pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import type { Rng } from '../kernel/random.ts'
import type { RunQuery } from './connection.ts'
import type { Statement, Tx } from './database.ts'
import { CommitUnknown, cannotWrite, StoreUnavailable, sqlStateOf, wasRefusedByServer } from './errors.ts'

type TransactionPorts = { connect(): Promise<pg.PoolClient>; run: RunQuery; clock: Clock; rng: Rng }

const attemptsMax = 8
/** A session that was lost may have been the only one; a server that is gone loses the next one too. */
const lostMax = 1

/** Serialization failure and deadlock: the server undid the whole transaction, so the work can start over. */
const retryableStates = new Set(['40001', '40P01'])

export async function runTransaction<T>(ports: TransactionPorts, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1, lost = 0; ; attempt += 1) {
    try {
      return await tryOnce(await ports.connect(), ports.run, work)
    } catch (error) {
      if (error instanceof SessionLost && lost < lostMax) {
        lost += 1
        continue
      }
      const state = sqlStateOf(error)
      if (state === undefined || !retryableStates.has(state) || attempt >= attemptsMax) throw error
      // Random, so that two transactions that met once do not meet again in step.
      const spread = (ports.rng.bytes(1)[0] ?? 0) / 256
      await ports.clock.sleep(Math.ceil(spread * 2 ** attempt * 2))
    }
  }
}

async function tryOnce<T>(client: pg.PoolClient, run: RunQuery, work: (tx: Tx) => Promise<T>): Promise<T> {
  let open = true
  const tx: Tx = {
    transaction: true,
    query: <Row>(statement: string | Statement, values?: readonly unknown[]) => {
      if (!open) return Promise.reject(new Error('this transaction has ended'))
      return run<Row>(client, statement, values).catch(beforeCommit)
    },
  }
  try {
    await client.query('begin').catch(beforeCommit)
    const result = await work(tx)
    open = false
    await commit(client)
    client.release()
    return result
  } catch (error) {
    open = false
    await rollBack(client, cannotWrite(error))
    throw cannotWrite(error) ? new StoreUnavailable(error) : error
  }
}

/** It ended before COMMIT was sent and took everything with it, so the work can start over. */
class SessionLost extends StoreUnavailable {}

function beforeCommit(error: unknown): never {
  throw wasRefusedByServer(error) ? error : new SessionLost(error)
}

async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await client.query('commit').catch((error: unknown) => {
    // Anything but the server's own verdict on COMMIT leaves the outcome open.
    throw wasRefusedByServer(error) ? error : new CommitUnknown(error)
  })
  // A failed statement that the work swallowed has doomed the transaction; COMMIT then succeeds as a ROLLBACK.
  if (command !== 'COMMIT') throw new Error('the transaction was rolled back: a statement inside it had failed')
}

/** Also after a COMMIT that failed: a rollback outside a transaction is harmless, and a broken session is thrown away. */
async function rollBack(client: pg.PoolClient, leave: boolean): Promise<void> {
  try {
    await client.query('rollback')
    client.release(leave)
  } catch {
    client.release(true)
  }
}
