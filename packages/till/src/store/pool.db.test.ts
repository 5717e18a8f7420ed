import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { systemRng } from '../kernel/random.ts'
import type { Database } from './database.ts'
import { CommitUnknown, StoreUnavailable } from './errors.ts'
import { createDatabase } from './pool.ts'
import { checkPooledSession } from './server-checks.ts'
import { useTestDatabase } from './use-database.fixture.ts'

const ports = { clock: systemClock, rng: systemRng, log: silentLog }

const db = await useTestDatabase()
await db.owner.query('create table pool_test (id int primary key, n bigint not null)')
await db.owner.query('insert into pool_test values (1, 0), (2, 0)')

const killBackend = (pid: number) => db.owner.query('select pg_terminate_backend($1)', [pid])
const backendOf = async (sql: Pick<Database, 'query'>) =>
  (await sql.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0

test('tests reach their server over its socket', () => {
  expect(new URL(db.databaseUrl).searchParams.get('host')).toMatch(/^\//)
})

test('values arrive without rounding: bigint, numeric, time, bytes, JSON and arrays', async () => {
  const { rows } = await db.database.query(
    `select 9223372036854775807::int8 as big, 1.50::numeric as exact, '2026-01-02T03:04:05.678Z'::timestamptz as time,
       '\\x00ff'::bytea as bytes, '{"a":[1]}'::jsonb as json, array[1, null]::int8[] as list, date '2026-03-29' as day,
       $1::int8 as given, $2::int8[] as given_list`,
    [2n ** 62n, [1n, -5n]],
  )
  expect(rows[0]).toEqual({
    big: 9_223_372_036_854_775_807n,
    exact: '1.50',
    time: new Date('2026-01-02T03:04:05.678Z'),
    bytes: Buffer.from([0, 255]),
    json: { a: [1] },
    list: [1n, null],
    day: '2026-03-29',
    given: 2n ** 62n,
    given_list: [1n, -5n],
  })
})

test('the pool works as the application role, with limits on statements, locks and idle transactions', async () => {
  const { rows } = await db.database.query(`select current_user, current_setting('statement_timeout') as statement,
    current_setting('lock_timeout') as lock, current_setting('idle_in_transaction_session_timeout') as idle`)
  expect(rows[0]).toEqual({ current_user: 'assay_app', statement: '30s', lock: '10s', idle: '1min' })
})

test('a deadlock is retried from the start and both transactions succeed', async () => {
  let runs = 0
  const holding = new Set<number>()
  const move = (first: number, second: number) =>
    db.database.transaction(async (tx) => {
      runs += 1
      await tx.query('update pool_test set n = n + 1 where id = $1', [first])
      holding.add(first)
      await expect.poll(() => holding.size).toBe(2)
      await tx.query('update pool_test set n = n + 1 where id = $1', [second])
    })
  await Promise.all([move(1, 2), move(2, 1)])
  const { rows } = await db.database.query<{ n: bigint }>('select n from pool_test order by id')
  expect(rows).toEqual([{ n: 2n }, { n: 2n }])
  expect(runs).toBeGreaterThan(2)
})

test('a transaction whose failed statement was swallowed does not pass for committed', async () => {
  const attempt = db.database.transaction(async (tx) => {
    await tx.query('update pool_test set n = 99 where id = 1')
    await tx.query('select 1/0').catch(() => {})
  })
  await expect(attempt).rejects.toThrow(/rolled back/)
  const { rows } = await db.database.query<{ n: bigint }>('select n from pool_test where id = 1')
  expect(rows[0]?.n).not.toBe(99n)
})

test('a transaction cannot be used after its end', async () => {
  const leaked = await db.database.transaction(async (tx) => tx)
  await expect(leaked.query('select 1')).rejects.toThrow(/has ended/)
})

test('a connection lost during COMMIT is distinguished from a refusal', async () => {
  await db.owner.query(`create function slow_commit() returns trigger language plpgsql as
    'begin perform pg_sleep(20); return null; end'`)
  await db.owner.query('create table slow_test (id int)')
  await db.owner.query(`create constraint trigger slow after insert on slow_test deferrable initially deferred
    for each row execute function slow_commit()`)
  let pid = 0
  const work = db.database.transaction(async (tx) => {
    pid = await backendOf(tx)
    await tx.query('insert into slow_test values (1)')
  })
  const outcome = work.catch((error: unknown) => error)
  for (let tries = 0; tries < 1_500; tries += 1) {
    const { rows } = await db.owner.query(
      `select from pg_stat_activity where pid = $1 and query = 'commit' and state = 'active'`,
      [pid],
    )
    if (rows.length > 0) break
    await systemClock.sleep(10)
  }
  await killBackend(pid)
  expect(await outcome).toBeInstanceOf(CommitUnknown)
})

test('a lone statement whose connection broke has an unknown outcome too, and the pool goes on', async () => {
  const slow = db.database.query(`select pg_sleep(20), 'lone statement'`).catch((error: unknown) => error)
  let killed = 0
  for (let tries = 0; killed === 0 && tries < 1_500; tries += 1) {
    await systemClock.sleep(10)
    const { rowCount } = await db.owner.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where query like '%lone statement%' and state = 'active' and pid <> pg_backend_pid()`)
    killed = rowCount
  }
  expect(await slow).toBeInstanceOf(CommitUnknown)
  expect((await db.database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

test('a transaction whose connection breaks before COMMIT starts over once, and then says that nothing took effect', async () => {
  const breaking = (times: number) => {
    let runs = 0
    return db.database.transaction(async (tx) => {
      runs += 1
      const pid = await backendOf(tx)
      await tx.query('update pool_test set n = $1 where id = 1', [70 + runs])
      if (runs <= times) await killBackend(pid)
      await tx.query('select 1')
    })
  }
  const read = async () => (await db.database.query<{ n: bigint }>('select n from pool_test where id = 1')).rows[0]?.n
  await breaking(1)
  expect(await read()).toBe(72n)
  await expect(breaking(2)).rejects.toThrow(StoreUnavailable)
  expect(await read()).toBe(72n)
})

test('a database that cannot be reached is distinguished: nothing was sent', async () => {
  const away = createDatabase({ target: { url: 'postgresql://a:b@127.0.0.1:1/x' }, ...ports })
  await expect(away.query('select 1')).rejects.toThrow(StoreUnavailable)
  await expect(away.transaction(async () => {})).rejects.toThrow(StoreUnavailable)
  await away.close()
})

test('notifications arrive, and after a broken connection the subscriber is asked to read again', async () => {
  const heard: string[] = []
  let resynced = () => {}
  const resync = new Promise<void>((resolve) => {
    resynced = resolve
  })
  const waitFor = async (count: number) => {
    await expect.poll(() => heard).toHaveLength(count)
  }
  const stop = await db.database.listen('pool_test', (payload) => heard.push(payload), resynced)
  await db.database.query(`select pg_notify('pool_test', 'one')`)
  await waitFor(1)
  await db.owner.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'listen pool_test%'`)
  await resync
  await db.database.query(`select pg_notify('pool_test', 'two')`)
  await waitFor(2)
  expect(heard).toEqual(['one', 'two'])
  await stop()
  await expect(db.database.listen('bad name; drop', () => {})).rejects.toThrow(/channel/)
})

test('a server that can only be read is out of service: nothing took effect, and the next session may be that of another', async () => {
  const pids: number[] = []
  const write = (readOnly: boolean) =>
    db.database.transaction(async (tx) => {
      const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
      pids.push(rows[0]?.pid ?? 0)
      if (readOnly) await tx.query('set transaction read only')
      await tx.query(`update instance set position = position`)
    })
  await expect(write(true)).rejects.toThrow(StoreUnavailable)
  await write(false)
  expect(pids[1]).not.toBe(pids[0])
  await expect(db.database.query(`begin read only; update instance set position = position; commit`)).rejects.toThrow(
    StoreUnavailable,
  )
})

test('a held lock keeps others out until it is released, and its loss is announced', async () => {
  const tryLock = async () =>
    (await db.owner.query<{ free: boolean }>('select pg_try_advisory_xact_lock(77) as free')).rows[0]?.free
  const lock = await db.database.holdLock(77n)
  expect(await tryLock()).toBe(false)
  await lock.release()
  expect(lock.lost.aborted).toBe(false)
  expect(await tryLock()).toBe(true)
  const second = await db.database.holdLock(77n)
  const lost = new Promise<void>((resolve) => second.lost.addEventListener('abort', () => resolve()))
  await db.owner.query(`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 77`)
  await lost
})

test('behind a transaction pooler nothing outlives a transaction: no named statements, and what lasts goes past it', async () => {
  const login = `pool_${new URL(db.databaseUrl).pathname.slice(1)}`
  await db.owner.query(`create role ${login} login password 'secret' in role assay_app`)
  const url = new URL(db.databaseUrl)
  url.username = login
  url.password = 'secret'
  const open = () =>
    createDatabase({ target: { url: url.href }, direct: { url: db.databaseUrl }, poolSize: 1, ...ports })
  const pooled = open()
  const heard: string[] = []
  try {
    const named = { name: 'pooled_probe', text: 'select $1::int as n', values: [7] }
    expect((await pooled.query(named)).rows).toEqual([{ n: 7 }])
    expect((await pooled.transaction((tx) => tx.query(named))).rows).toEqual([{ n: 7 }])
    expect((await pooled.query('select name from pg_prepared_statements')).rows).toEqual([])
    await pooled.listen('pooled_probe', (payload) => heard.push(payload))
    await pooled.query(`select pg_notify('pooled_probe', 'news')`)
    await expect.poll(() => heard, { timeout: 10_000 }).toEqual(['news'])
    const without = await checkPooledSession(pooled)
    expect(without.restricted).toBe(true)
    expect(without.problems.filter((text) => text.includes('timeout'))).toHaveLength(3)
  } finally {
    await pooled.close()
  }
  for (const setting of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
    await db.owner.query(`alter role ${login} set ${setting} = '30s'`)
  await db.owner.query(`alter role ${login} set TimeZone = 'UTC'`)
  const again = open()
  expect(await checkPooledSession(again)).toEqual({ restricted: true, problems: [] })
  await again.close()
  const asOwner = await checkPooledSession(db.owner)
  expect(asOwner.restricted).toBe(false)
  await db.owner.query(`drop role ${login}`)
})

test('a statement that comes again is prepared under a name; one that selects every column never is, and sees a new column', async () => {
  const alone = createDatabase({ target: { url: db.databaseUrl }, poolSize: 1, ...ports })
  const prepared = async () =>
    (await alone.query<{ statement: string }>('select statement from pg_prepared_statements')).rows.map(
      (row) => row.statement,
    )
  try {
    await db.owner.query(
      'create table comes_again (a int); grant select on comes_again to public; insert into comes_again values (1)',
    )
    const counts = 'select count(*)::int as n from comes_again where a > $1'
    const everything = 'select * from comes_again where a > $1'
    for (let times = 0; times < 3; times += 1) {
      expect((await alone.query(counts, [0])).rows).toEqual([{ n: 1 }])
      expect((await alone.query(everything, [0])).rows).toEqual([{ a: 1 }])
    }
    expect(await prepared()).toContain(counts)
    expect(await prepared()).not.toContain(everything)
    await db.owner.query('alter table comes_again add column b int')
    expect((await alone.query(everything, [0])).rows).toEqual([{ a: 1, b: null }])
    expect((await alone.query(counts, [0])).rows).toEqual([{ n: 1 }])
  } finally {
    await alone.close()
  }
})
