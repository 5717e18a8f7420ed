import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Database, Sql, Tx } from '../store/database.ts'
import { createBatcher } from '../store/group-commit.ts'

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
  /** Id of this process as an owner: its leases are free as soon as it is dead. Without it they only expire. */
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
  const [token] = await acquire(ports, [{ name, ttlMs }])
  if (token === undefined) return { ran: false }
  try {
    return { ran: true, result: await workUnder(ports, { name, token, ttlMs }, work) }
  } finally {
    await finish(ports, [{ name, token, released: true }])
  }
}

export type Leases = {
  /** Like `withLease` for work that comes back after `intervalMs`: the lease of most work is kept between its runs. */
  run(name: string, intervalMs: number, work: (signal: AbortSignal) => Promise<unknown>): Promise<void>
  /** Releases what is kept. */
  release(): Promise<void>
}

/** What work returns that another process may be able to do: it gets the lease, which would be kept otherwise. */
export const handOver = Symbol('hand over')

/** A lease that is kept counts as held for this long before the database is asked again. */
const keptMs = 5_000
/** Work that comes back later releases its lease meanwhile. */
const keptIntervalMsMax = 60_000

type Kept = { token: bigint; ttlMs: number; askedMs: number }

/** Acquiring and releasing for each run would be two writes for work that mostly finds nothing to do. */
export function createLeases(ports: LeasePorts): Leases {
  const kept = new Map<string, Kept>()
  // Jobs begin and end together, above all when a process starts.
  const together = { maxItems: 64, maxConcurrent: 2, isolateFailures: false }
  const acquiring = createBatcher({ ...together, run: (asked: Asked[]) => acquire(ports, asked) })
  const finishing = createBatcher({ ...together, run: (ended: Ended[]) => finish(ports, ended) })
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
      const token = known?.token ?? (await acquiring.submit({ name, ttlMs }))
      if (token === undefined) return
      let lost: AbortSignal | undefined
      let released = intervalMs > keptIntervalMsMax
      try {
        const result = await workUnder(ports, { name, token, ttlMs }, ({ signal }) => {
          lost = signal
          return work(signal)
        })
        if (result === handOver) released = true
      } finally {
        if (released) await finishing.submit({ name, token, released })
        else if (!lost?.aborted && (known || (await finishing.submit({ name, token, released }))))
          kept.set(name, { token, ttlMs, askedMs })
      }
    },
    release: async () => {
      const all = [...kept].map(([name, { token }]) => ({ name, token, released: true }))
      kept.clear()
      if (all.length > 0) await finish(ports, all)
    },
  }
}

type Held = { name: string; token: bigint; ttlMs: number }

/** Passed as abort reason: without one each abort allocates an error with a stack trace that nobody reads. */
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

/** Leases named in a statement that are still held, locked by name in every process: in any other order two would wait for each other. */
const heldInOrder = (named: string, column: string) => `with held as (select l.name, a.${column} from job_lease l
  join unnest(${named}) as a (name, token, ${column}) using (name, token) order by l.name for no key update of l)`

/** All that is kept in one statement, with the end of its last runs. What another process took is not kept any more. */
async function renewKept(ports: LeasePorts, kept: Map<string, Kept>): Promise<void> {
  const askedMs = ports.clock.monotonicMs()
  const asked = [...kept]
  const { rows } = await ports.database.query<{ name: string; token: bigint }>({
    name: 'lease_renew',
    text: `${heldInOrder('$1::text[], $2::bigint[], $3::float8[]', 'ttl_ms')}
      update job_lease l set expires_at = clock_timestamp() + h.ttl_ms * interval '1 millisecond', finished_at = clock_timestamp()
      from held h where l.name = h.name returning l.name, l.token`,
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

type Asked = { name: string; ttlMs: number }

/** The token of each that is free, which is then held; in one order in every process, so that none waits for another. */
async function acquire(ports: LeasePorts, asked: readonly Asked[]): Promise<(bigint | undefined)[]> {
  const { rows } = await ports.database.query<{ name: string; token: bigint }>({
    name: 'lease_acquire',
    text: `insert into job_lease as l (name, owner, token, expires_at)
      select distinct on (name) name, $1, 1, clock_timestamp() + ttl_ms * interval '1 millisecond'
      from unnest($2::text[], $3::float8[]) as a (name, ttl_ms) order by name
      on conflict (name) do update
        set owner = excluded.owner, expires_at = excluded.expires_at, token = l.token + 1
        where l.expires_at < clock_timestamp() or (l.owner is not null and not owner_alive(l.owner))
      returning name, token`,
    values: [ports.owner ?? null, asked.map(({ name }) => name), asked.map(({ ttlMs }) => ttlMs)],
  })
  const tokens = new Map(rows.map(({ name, token }) => [name, token]))
  return asked.map(({ name }) => {
    const token = tokens.get(name)
    tokens.delete(name)
    return token
  })
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

type Ended = { name: string; token: bigint; released: boolean }

/** False for a lease that is another's by now, or of which nothing is known: it then runs out by itself. */
async function finish({ database, log }: LeasePorts, ended: readonly Ended[]): Promise<boolean[]> {
  try {
    const { rows } = await database.query<{ name: string; token: bigint }>({
      name: 'lease_finish',
      text: `${heldInOrder('$1::text[], $2::bigint[], $3::boolean[]', 'released')}
        update job_lease l set expires_at = case when h.released then '-infinity' else l.expires_at end, finished_at = clock_timestamp()
        from held h where l.name = h.name returning l.name, l.token`,
      values: [ended.map(({ name }) => name), ended.map(({ token }) => token), ended.map(({ released }) => released)],
    })
    const held = new Map(rows.map(({ name, token }) => [name, token]))
    return ended.map(({ name, token }) => held.get(name) === token)
  } catch (error) {
    log.warn({ error: String(error) }, 'the end of jobs was not written; their leases run out by themselves')
    return ended.map(() => false)
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
