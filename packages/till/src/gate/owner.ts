import type { Clock } from '../kernel/clock.ts'
import type { Rng } from '../kernel/random.ts'
import type { Database, Sql } from '../store/database.ts'

/**
 * This process, as the owner of the payments it works on. It is alive exactly while PostgreSQL holds its advisory lock:
 * the server itself drops the lock when the process dies, so nobody has to guess from a clock.
 */
export type Owner = {
  readonly id: bigint
  /** Aborted when the lock's connection broke: others may now take this process for dead. */
  readonly lost: AbortSignal
  isAlive(owner: bigint): Promise<boolean>
  release(): Promise<void>
}

export async function registerOwner(database: Database, clock: Clock, rng: Rng): Promise<Owner> {
  // Positive and below 2^62, so that key arithmetic in SQL stays within bigint.
  const id = Buffer.from(rng.bytes(8)).readBigUInt64BE() >> 2n
  const lock = await database.holdLock(id)
  await database.query(`insert into payment_owner (owner, started_at) values ($1, $2)`, [id, new Date(clock.nowMs())])
  return {
    id,
    lost: lock.lost,
    isAlive: (owner) => (owner === id ? Promise.resolve(!lock.lost.aborted) : holdsLock(database, owner)),
    release: async () => {
      await database.query(`update payment_owner set dead_at = $2 where owner = $1`, [id, new Date(clock.nowMs())])
      await lock.release()
    },
  }
}

async function holdsLock(sql: Sql, owner: bigint): Promise<boolean> {
  const { rows } = await sql.query<{ alive: boolean }>(
    `select exists (
       select 1 from pg_locks where locktype = 'advisory' and objsubid = 1 and granted
         and database = (select oid from pg_database where datname = current_database())
         and classid::bigint = ($1::bigint >> 32) and objid::bigint = ($1::bigint & 4294967295)
     ) as alive`,
    [owner],
  )
  return rows[0]?.alive === true
}
