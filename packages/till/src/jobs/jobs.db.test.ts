import { expect, test } from 'vitest'
import { registerOwner } from '../gate/owner.ts'
import { type Clock, systemClock } from '../kernel/clock.ts'
import { type Log, silentLog } from '../kernel/log.ts'
import { systemRng } from '../kernel/random.ts'
import type { Database } from '../store/database.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { createLeases, createScheduler, handOver, LeaseLost, withLease } from './index.ts'

const db = await useTestDatabase()

const ports = () => ({ database: db.database, clock: systemClock, log: silentLog })

test('runs never overlap, an error is logged and does not end the job, and stopping waits for the run', async () => {
  const errors: unknown[] = []
  const log: Log = { ...silentLog, error: (fields) => errors.push(fields) }
  const scheduler = createScheduler({ clock: systemClock, log, rng: systemRng })
  let running = 0
  let most = 0
  let runs = 0
  const job = scheduler.every(
    'test',
    5,
    async () => {
      running += 1
      most = Math.max(most, running)
      await systemClock.sleep(10)
      running -= 1
      runs += 1
      if (runs === 2) throw new Error('once')
    },
    { jitter: 0.5 },
  )
  await Promise.all([job.runNow(), job.runNow()])
  await expect.poll(() => runs).toBeGreaterThanOrEqual(4)
  await scheduler.stop()
  expect(running).toBe(0)
  expect(most).toBe(1)
  expect(errors).toMatchObject([{ job: 'test' }])
  const after = runs
  await job.runNow()
  expect(runs).toBe(after)
})

test('only one of many processes does the work, and the next one gets a higher token', async () => {
  const tokens: bigint[] = []
  let refused = 0
  const attempts = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const attempt = await withLease(ports(), 'one', 5_000, async ({ token }) => {
        tokens.push(token)
        await expect.poll(() => refused).toBe(7)
      })
      if (!attempt.ran) refused += 1
      return attempt
    }),
  )
  expect(attempts.filter(({ ran }) => ran)).toHaveLength(1)
  await withLease(ports(), 'one', 5_000, async ({ token }) => void tokens.push(token))
  expect(tokens).toEqual([1n, 2n])
})

test('a lease is renewed while the work lasts; a holder who was overtaken is notified and fenced off', async () => {
  const expiry = async () => {
    const { rows } = await db.database.query<{ expires_at: Date }>(
      `select expires_at from job_lease where name = 'fenced'`,
    )
    return rows[0]?.expires_at.getTime() ?? 0
  }
  const outcome = await withLease(ports(), 'fenced', 3_000, async (lease) => {
    const first = await expiry()
    await expect.poll(expiry).toBeGreaterThan(first)
    expect(lease.signal.aborted).toBe(false)
    await db.database.transaction((tx) => lease.assertHeld(tx))
    await db.database.query(`update job_lease set token = token + 1 where name = 'fenced'`)
    await expect(db.database.transaction((tx) => lease.assertHeld(tx))).rejects.toThrow(LeaseLost)
    await expect.poll(() => lease.signal.aborted).toBe(true)
    return lease.signal.aborted
  })
  expect(outcome).toEqual({ ran: true, result: true })
})

/** The same database, and what was asked of it. */
function recorded(): { database: Database; statements: string[] } {
  const statements: string[] = []
  const query: Database['query'] = (statement, values) => {
    statements.push(typeof statement === 'string' ? statement : statement.text)
    return db.database.query(statement, values)
  }
  return { database: { ...db.database, query }, statements }
}

test('leases that are kept are renewed together, and none that another process took', async () => {
  const { clock, advance } = fakeClock()
  const { database, statements } = recorded()
  const leases = createLeases({ ...ports(), database, clock })
  const names = ['first', 'second', 'third']
  const ran: string[] = []
  const runAll = () => Promise.all(names.map((name) => leases.run(name, 10_000, async () => void ran.push(name))))
  await runAll()
  statements.length = 0
  advance(10_000)
  await db.database.query(`update job_lease set token = token + 1 where name = 'third'`)
  await runAll()
  expect(ran.slice(3).sort()).toEqual(['first', 'second'])
  expect(statements).toHaveLength(2)
  advance(1_000)
  await runAll()
  expect(statements).toHaveLength(3)
  await leases.release()
})

test('work that met what it cannot do leaves its lease to another process, and keeps it again when it could', async () => {
  const [first, second] = [createLeases(ports()), createLeases(ports())]
  const ran: string[] = []
  const run = (leases: typeof first, name: string, result?: symbol) =>
    leases.run('handed-over', 2_000, async () => {
      ran.push(name)
      return result
    })
  await run(first, 'first', handOver)
  await run(second, 'second')
  await run(first, 'first')
  await run(second, 'second')
  expect(ran).toEqual(['first', 'second', 'second'])
  await second.release()
})

test('leases that are asked for together are acquired and released in one statement each', async () => {
  const { database, statements } = recorded()
  const leases = createLeases({ ...ports(), database })
  const names = ['hourly', 'daily', 'weekly', 'daily']
  const ran: string[] = []
  await Promise.all(names.map((name) => leases.run(name, 3_600_000, async () => void ran.push(name))))
  expect(ran.sort()).toEqual(['daily', 'hourly', 'weekly'])
  expect(statements).toHaveLength(2)
  const other = createLeases(ports())
  await other.run('daily', 3_600_000, async () => void ran.push('again'))
  expect(ran).toContain('again')
})

test('leases that end together are locked by name, so that two processes cannot wait for each other', async () => {
  const leases = createLeases(ports())
  const names = ['ordered-3', 'ordered-2', 'ordered-1']
  let ending: Promise<unknown> = Promise.resolve()
  await db.database.transaction(async (tx) => {
    const ends: (() => void)[] = []
    const runs = names.map(async (name, place) => {
      await expect.poll(() => ends.length).toBe(place)
      await leases.run(name, 3_600_000, () => new Promise<void>((end) => ends.push(end)))
    })
    ending = Promise.all(runs)
    await expect.poll(() => ends.length).toBe(names.length)
    await tx.query(`select from job_lease where name = 'ordered-1' for update`)
    for (const end of ends) end()
    await expect.poll(waitsForLock).toBe(true)
    await tx.query(`select from job_lease where name in ('ordered-2', 'ordered-3') for update nowait`)
  })
  await ending
})

async function waitsForLock(): Promise<boolean> {
  const { rowCount } = await db.owner.query(
    `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%job_lease%' and datname = current_database()`,
  )
  return rowCount === 1
}

test('frequent work keeps its lease between runs, and asks for it again only now and then', async () => {
  const { clock, advance } = fakeClock()
  const { database, statements } = recorded()
  const owner = await registerOwner(db.database, systemClock, systemRng)
  const leases = createLeases({ ...ports(), database, clock, owner: owner.id })
  const runs: number[] = []
  const run = () => leases.run('frequent', 1_000, async () => void runs.push(1))
  for (let second = 0; second < 20; second += 1) {
    await run()
    advance(1_000)
  }
  expect(runs).toHaveLength(20)
  expect(statements.length).toBeLessThan(7)
  const other = createLeases(ports())
  await other.run('frequent', 1_000, async () => expect.unreachable('another process ran it'))
  await leases.release()
  await other.run('frequent', 1_000, async () => void runs.push(2))
  expect(runs.at(-1)).toBe(2)
  await other.release()
  await owner.release()
})

test('what a dead process kept is free at once, and one that was overtaken notices when it asks again', async () => {
  const dead = await registerOwner(db.database, systemClock, systemRng)
  const { clock, advance } = fakeClock()
  const left = createLeases({ ...ports(), clock, owner: dead.id })
  const ran: string[] = []
  await left.run('inherited', 1_000, async () => void ran.push('first'))
  await dead.release()
  const heir = createLeases(ports())
  await heir.run('inherited', 1_000, async () => void ran.push('heir'))
  advance(6_000)
  await left.run('inherited', 1_000, async () => void ran.push('overtaken'))
  expect(ran).toEqual(['first', 'heir'])
  await heir.release()
})

test('a run that fails is over, and its lease is kept for the next', async () => {
  const leases = createLeases(ports())
  await expect(leases.run('failing', 1_000, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  const ran: number[] = []
  await leases.run('failing', 1_000, async () => void ran.push(1))
  expect(ran).toEqual([1])
  await leases.release()
})

function fakeClock(): { clock: Clock; advance(ms: number): void } {
  let passedMs = 0
  return {
    clock: { ...systemClock, monotonicMs: () => passedMs },
    advance: (ms) => {
      passedMs += ms
    },
  }
}
