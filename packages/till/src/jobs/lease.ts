import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Rng } from '../kernel/random.ts'
import type { Database, Sql, Tx } from '../store/database.ts'

export type Lease = {
  /** Grows with each holder. Writes that must not come from an earlier holder carry or check it. */
  token: bigint
  /** Aborted when the lease was lost or could not be renewed in time. */
  signal: AbortSignal
  /** Throws unless this lease is the current one; keeps others from taking it until the transaction ends. */
  assertHeld(tx: Tx): Promise<void>
}

export class LeaseLost extends Error {
  constructor(name: string) {
    super(`the lease "${name}" is held by another process`)
    this.name = 'LeaseLost'
  }
}

export type LeasePorts = { database: Database; clock: Clock; rng: Rng; log: Log }

/**
 * Runs `work` if no other process holds the lease, and gives it back after. Times are the database's, so the clocks of
 * the processes do not matter. `{ ran: false }` when somebody else is at it.
 */
export async function withLease<T>(
  ports: LeasePorts,
  name: string,
  ttlMs: number,
  work: (lease: Lease) => Promise<T>,
): Promise<{ ran: true; result: T } | { ran: false }> {
  const owner = Buffer.from(ports.rng.bytes(16)).toString('hex')
  const token = await acquire(ports.database, name, owner, ttlMs)
  if (token === undefined) return { ran: false }
  const lost = new AbortController()
  const finished = new AbortController()
  const renewing = keepRenewed(ports, { name, token, ttlMs, lost, finished: finished.signal })
  try {
    const assertHeld = (tx: Tx) => assertToken(tx, name, token)
    return { ran: true, result: await work({ token, signal: lost.signal, assertHeld }) }
  } finally {
    finished.abort()
    await renewing
    await release(ports.database, name, token).catch((error: unknown) =>
      ports.log.warn({ lease: name, error: String(error) }, 'a lease was not given back; it runs out by itself'),
    )
  }
}

async function acquire(sql: Sql, name: string, owner: string, ttlMs: number): Promise<bigint | undefined> {
  const { rows } = await sql.query<{ token: bigint }>({
    name: 'lease_acquire',
    text: `insert into job_lease (name, owner, token, expires_at)
      values ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond')
      on conflict (name) do update
        set owner = excluded.owner, token = job_lease.token + 1, expires_at = excluded.expires_at
        where job_lease.expires_at < clock_timestamp()
      returning token`,
    values: [name, owner, ttlMs],
  })
  return rows[0]?.token
}

type Renewal = { name: string; token: bigint; ttlMs: number; lost: AbortController; finished: AbortSignal }

async function keepRenewed(ports: LeasePorts, { name, token, ttlMs, lost, finished }: Renewal): Promise<void> {
  let renewedAt = ports.clock.monotonicMs()
  while (!finished.aborted) {
    await ports.clock.sleep(ttlMs / 3, finished).catch(() => {})
    if (finished.aborted) return
    const startedAt = ports.clock.monotonicMs()
    try {
      const { rowCount } = await ports.database.query(
        `update job_lease set expires_at = clock_timestamp() + $3 * interval '1 millisecond'
         where name = $1 and token = $2`,
        [name, token, ttlMs],
      )
      if (rowCount === 0) return lost.abort(new LeaseLost(name))
      renewedAt = startedAt
    } catch (error) {
      ports.log.warn({ lease: name, error: String(error) }, 'a lease could not be renewed')
      // Counted from before the last renewal that is known to have worked: never longer than the database counts.
      if (ports.clock.monotonicMs() - renewedAt > ttlMs) return lost.abort(new LeaseLost(name))
    }
  }
}

async function assertToken(tx: Tx, name: string, token: bigint): Promise<void> {
  const { rowCount } = await tx.query('select from job_lease where name = $1 and token = $2 for share', [name, token])
  if (rowCount !== 1) throw new LeaseLost(name)
}

async function release(sql: Sql, name: string, token: bigint): Promise<void> {
  await sql.query({
    name: 'lease_release',
    text: `update job_lease set expires_at = '-infinity', finished_at = clock_timestamp() where name = $1 and token = $2`,
    values: [name, token],
  })
}

/** Milliseconds since a job last ended, by the clock of the database; undefined when it never did. */
export async function msSinceJob(sql: Sql, name: string): Promise<number | undefined> {
  const { rows } = await sql.query<{ ms: string | null }>(
    `select (extract(epoch from clock_timestamp() - finished_at) * 1000)::bigint::text as ms from job_lease where name = $1`,
    [name],
  )
  const ms = rows[0]?.ms
  return ms === null || ms === undefined ? undefined : Number(ms)
}
