import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
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

export type LeasePorts = {
  database: Database
  clock: Clock
  log: Log
  /** Of this process: its leases are free as soon as it is dead. Without it they only run out. */
  owner?: bigint
}

/**
 * Runs `work` if no other process holds the lease, and releases it after. Times are the database's, so the clocks of
 * the processes do not matter. `{ ran: false }` when another process is at it.
 */
export async function withLease<T>(
  ports: LeasePorts,
  name: string,
  ttlMs: number,
  work: (lease: Lease) => Promise<T>,
): Promise<{ ran: true; result: T } | { ran: false }> {
  const token = await acquire(ports, name, ttlMs)
  if (token === undefined) return { ran: false }
  try {
    return { ran: true, result: await workUnder(ports, { name, token, ttlMs }, work) }
  } finally {
    await release(ports, name, token)
  }
}

export type Leases = {
  /** Like `withLease` for work that comes back after `intervalMs`: the lease of most work is kept between its runs. */
  run(name: string, intervalMs: number, work: (signal: AbortSignal) => Promise<unknown>): Promise<void>
  /** Releases what is kept. */
  release(): Promise<void>
}

/** A lease that is kept counts as held for this long before the database is asked again. */
const keptMs = 5_000
/** Work that comes back later releases its lease meanwhile. */
const keptIntervalMsMax = 30_000

type Kept = { token: bigint; ttlMs: number; askedMs: number }

/** Acquiring and releasing for each run would be two writes for work that mostly finds nothing to do. */
export function createLeases(ports: LeasePorts): Leases {
  const kept = new Map<string, Kept>()
  let renewing: Promise<void> | undefined
  const renew = () => {
    renewing ??= renewKept(ports, kept).finally(() => {
      renewing = undefined
    })
    return renewing
  }
  const takeKept = async (name: string): Promise<Kept | undefined> => {
    const known = kept.get(name)
    if (known && ports.clock.monotonicMs() - known.askedMs >= keptMs) await renew()
    const still = kept.get(name)
    kept.delete(name)
    return still
  }
  return {
    run: async (name, intervalMs, work) => {
      const ttlMs = Math.max(30_000, intervalMs * 2)
      const known = await takeKept(name)
      const askedMs = known?.askedMs ?? ports.clock.monotonicMs()
      const token = known?.token ?? (await acquire(ports, name, ttlMs))
      if (token === undefined) return
      let lost: AbortSignal | undefined
      try {
        await workUnder(ports, { name, token, ttlMs }, ({ signal }) => {
          lost = signal
          return work(signal)
        })
      } finally {
        if (intervalMs > keptIntervalMsMax) await release(ports, name, token)
        else if (!lost?.aborted && (known || (await recordFinished(ports, name, token))))
          kept.set(name, { token, ttlMs, askedMs })
      }
    },
    release: async () => {
      const all = [...kept]
      kept.clear()
      await Promise.all(all.map(([name, { token }]) => release(ports, name, token)))
    },
  }
}

type Held = { name: string; token: bigint; ttlMs: number }

/** Without a reason of its own each signal makes an error with a stack, for nobody. */
const over = 'the work is over'

async function workUnder<T>(ports: LeasePorts, held: Held, work: (lease: Lease) => Promise<T>): Promise<T> {
  const lost = new AbortController()
  const finished = new AbortController()
  const renewing = keepRenewed(ports, { ...held, lost, finished: finished.signal })
  try {
    const assertHeld = (tx: Tx) => assertToken(tx, held.name, held.token)
    return await work({ token: held.token, signal: lost.signal, assertHeld })
  } finally {
    finished.abort(over)
    await renewing
  }
}

/** All that is kept in one statement, with the end of its last runs. What another process took is not kept any more. */
async function renewKept(ports: LeasePorts, kept: Map<string, Kept>): Promise<void> {
  const askedMs = ports.clock.monotonicMs()
  const asked = [...kept]
  const { rows } = await ports.database.query<{ name: string; token: bigint }>({
    name: 'lease_renew',
    text: `update job_lease l set expires_at = clock_timestamp() + k.ttl_ms * interval '1 millisecond', finished_at = clock_timestamp()
      from unnest($1::text[], $2::bigint[], $3::float8[]) as k (name, token, ttl_ms)
      where l.name = k.name and l.token = k.token returning l.name, l.token`,
    values: [asked.map(([name]) => name), asked.map(([, { token }]) => token), asked.map(([, { ttlMs }]) => ttlMs)],
  })
  const held = new Map(rows.map(({ name, token }) => [name, token]))
  for (const [name, lease] of asked) {
    // A run that began meanwhile has taken it out.
    if (kept.get(name) !== lease) continue
    if (held.get(name) === lease.token) kept.set(name, { ...lease, askedMs })
    else kept.delete(name)
  }
}

async function acquire(ports: LeasePorts, name: string, ttlMs: number): Promise<bigint | undefined> {
  const { rows } = await ports.database.query<{ token: bigint }>({
    name: 'lease_acquire',
    text: `insert into job_lease as l (name, owner, token, expires_at)
      values ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond')
      on conflict (name) do update
        set owner = excluded.owner, expires_at = excluded.expires_at, token = l.token + 1
        where l.expires_at < clock_timestamp() or (l.owner is not null and not owner_alive(l.owner))
      returning token`,
    values: [name, ports.owner ?? null, ttlMs],
  })
  return rows[0]?.token
}

type Renewal = Held & { lost: AbortController; finished: AbortSignal }

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

async function release(ports: LeasePorts, name: string, token: bigint): Promise<void> {
  await finish(ports, name, token, `expires_at = '-infinity', `)
}

const recordFinished = (ports: LeasePorts, name: string, token: bigint) => finish(ports, name, token, '')

/** False when the lease is another's by now, or nothing is known of it: it then runs out by itself. */
async function finish({ database, log }: LeasePorts, name: string, token: bigint, also: string): Promise<boolean> {
  try {
    const { rowCount } = await database.query(
      `update job_lease set ${also}finished_at = clock_timestamp() where name = $1 and token = $2`,
      [name, token],
    )
    return rowCount === 1
  } catch (error) {
    log.warn({ lease: name, error: String(error) }, 'the end of a job was not written; its lease runs out by itself')
    return false
  }
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
