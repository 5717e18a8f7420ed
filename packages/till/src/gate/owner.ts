import type { Clock } from '../kernel/clock.ts'
import type { Rng } from '../kernel/random.ts'
import type { Database, HeldLock, Sql } from '../store/database.ts'
import { StoreUnavailable } from '../store/errors.ts'

/**
 * This process, as the owner of the payments it works on. It is alive exactly while PostgreSQL holds its advisory lock:
 * the server itself drops the lock when the process dies, so nobody has to guess from a clock.
 */
export type Owner = {
  readonly id: bigint
  /**
   * Aborted when the current session is lost: other processes may then consider this one dead. The next session has
   * another signal.
   */
  readonly lost: AbortSignal
  isAlive(owner: bigint): Promise<boolean>
  /** Called before work begins; undefined while other processes can see that this one is alive. */
  stayAlive(): Promise<void> | undefined
  release(): Promise<void>
}

/** `onRegained` is done before work is begun under a new session, which may be that of another server. */
export async function registerOwner(
  database: Database,
  clock: Clock,
  rng: Rng,
  onRegained: () => Promise<unknown> = async () => {},
): Promise<Owner> {
  // Positive and below 2^62, so that key arithmetic in SQL stays within bigint.
  const id = Buffer.from(rng.bytes(8)).readBigUInt64BE() >> 2n
  return database.pooled ? registerLeased(database, clock, id) : registerLocked(database, clock, id, onRegained)
}

const regainMsMax = 1_000

/**
 * A session ends with its server, and a standby that takes over knows nothing of its locks. The process begins nothing
 * until the lock is held again. Payments that others took over meanwhile are safe: every write names owner, state and
 * attempt.
 */
async function registerLocked(
  database: Database,
  clock: Clock,
  id: bigint,
  onRegained: () => Promise<unknown>,
): Promise<Owner> {
  const ending = new AbortController()
  const take = async (before: () => Promise<unknown>): Promise<HeldLock> => {
    const held = await database.holdLock(id)
    try {
      await before()
      await database.query(
        `insert into payment_owner (owner, started_at) values ($1, $2) on conflict (owner) do update set dead_at = null`,
        [id, new Date(clock.nowMs())],
      )
      // Lost again meanwhile, before the listener below exists.
      held.lost.throwIfAborted()
    } catch (error) {
      await held.release()
      throw error
    }
    held.lost.addEventListener('abort', () => void regain().catch(() => {}))
    return held
  }
  const regain = async (): Promise<void> => {
    for (let waitMs = 25; ; waitMs = Math.min(2 * waitMs, regainMsMax)) {
      await clock.sleep(waitMs, ending.signal)
      const held = await take(onRegained).catch(() => undefined)
      if (held && ending.signal.aborted) return held.release()
      if (held) lock = held
      if (held) return
    }
  }
  let lock = await take(async () => {})
  return {
    id,
    get lost() {
      return lock.lost
    },
    isAlive: (owner) => (owner === id ? Promise.resolve(!lock.lost.aborted) : livesInDatabase(database, owner)),
    stayAlive: () => (lock.lost.aborted ? Promise.reject(new StoreUnavailable(lock.lost.reason)) : undefined),
    release: async () => {
      ending.abort()
      await database.query(`update payment_owner set dead_at = $2 where owner = $1`, [id, new Date(clock.nowMs())])
      await lock.release()
    },
  }
}

async function livesInDatabase(sql: Sql, owner: bigint): Promise<boolean> {
  const { rows } = await sql.query<{ alive: boolean }>(`select owner_alive($1) as alive`, [owner])
  return rows[0]?.alive === true
}

/**
 * Longer than the longest request: work that was under way at the last heartbeat has ended before the lease expires.
 */
const aliveMs = 180_000
const heartbeatEveryMs = 30_000

/**
 * Behind a transaction pooler a process keeps no session and cannot hold an advisory lock. It renews a lease
 * instead, as part of its requests, because nothing may run between them. A process that was frozen past its lease registers
 * again; other processes have taken over the payments it held.
 */
async function registerLeased(database: Database, clock: Clock, id: bigint): Promise<Owner> {
  let lastHeartbeatMs = Number.NEGATIVE_INFINITY
  let sending: Promise<void> | undefined
  const sendHeartbeat = async () => {
    const beganMs = clock.monotonicMs()
    await database.query(
      `insert into payment_owner (owner, started_at, alive_until) values ($1, $2, lease_now() + $3::integer * interval '1 millisecond')
       on conflict (owner) do update set alive_until = excluded.alive_until, dead_at = null`,
      [id, new Date(clock.nowMs()), aliveMs],
    )
    lastHeartbeatMs = beganMs
  }
  const owner: Owner = {
    id,
    lost: new AbortController().signal,
    isAlive: (other) => livesInDatabase(database, other),
    stayAlive: () => {
      if (clock.monotonicMs() - lastHeartbeatMs < heartbeatEveryMs) return undefined
      sending ??= sendHeartbeat().finally(() => {
        sending = undefined
      })
      return sending
    },
    release: async () => {
      await database.query(`update payment_owner set dead_at = $2, alive_until = null where owner = $1`, [
        id,
        new Date(clock.nowMs()),
      ])
    },
  }
  await owner.stayAlive()
  return owner
}
