import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { systemRng } from '../kernel/random.ts'
import { type Database, readWithin } from './database.ts'
import { createDatabase } from './pool.ts'
import { startReplica, type TestReplica } from './replica.fixture.ts'
import { startTestServer, type TestServer } from './testing.ts'

const ports = { clock: systemClock, rng: systemRng, log: silentLog }
const servers: TestServer[] = []
let replica: TestReplica
let database: Database

beforeAll(async () => {
  servers.push(await startTestServer(), await startTestServer())
  const primary = servers[0] as TestServer
  replica = await startReplica(primary)
  database = createDatabase({ target: { url: primary.url }, replica: { url: replica.url }, ...ports })
  await database.query('create table item (n int)')
})

afterAll(async () => {
  await database?.close()
  await replica?.stop()
  await Promise.all(servers.map((server) => server.stop()))
})

const isReplica = 'select pg_is_in_recovery() as it'
const fromReplica = async (msMax: number, of = database) =>
  (await readWithin(of, msMax).query<{ it: boolean }>(isReplica)).rows[0]?.it === true

/** Reads go on until they come from there: the first ones only find out how far each server is. */
const untilFrom = async (where: 'replica' | 'primary', msMax: number, of = database) => {
  while ((await fromReplica(msMax, of)) !== (where === 'replica')) await systemClock.sleep(20)
}

test('reads that may lag come from the replica, others from the primary', async () => {
  await untilFrom('replica', 5_000)
  expect((await database.query<{ it: boolean }>(isReplica)).rows[0]?.it).toBe(false)
})

test('what was committed longer ago than the bound is never missing, however far the replica is behind', async () => {
  await untilFrom('replica', 1_000)
  await replica.run('select pg_wal_replay_pause()')
  await database.query('insert into item values (1)')
  const committedMs = systemClock.monotonicMs()
  for (;;) {
    const askedMs = systemClock.monotonicMs()
    const { rows } = await readWithin(database, 1_000).query('select n from item where n = 1')
    if (askedMs - committedMs > 1_000) expect(rows, `${askedMs - committedMs} ms after the commit`).toHaveLength(1)
    if (askedMs - committedMs > 1_500) break
    await systemClock.sleep(20)
  }
  expect(await fromReplica(1_000)).toBe(false)
  expect(await fromReplica(600_000)).toBe(true)
  await replica.run('select pg_wal_replay_resume()')
  await untilFrom('replica', 1_000)
})

test('a statement that writes is refused and not made good by the primary', async () => {
  await untilFrom('replica', 5_000)
  await expect(readWithin(database, 5_000).query('insert into item values (2)')).rejects.toThrow(/read-only/)
  expect((await database.query('select from item where n = 2')).rowCount).toBe(0)
})

/** Long enough that every server was asked more than once how far it is. */
const readForAWhile = async (of: Database) => {
  const endMs = systemClock.monotonicMs() + 500
  while (systemClock.monotonicMs() < endMs) {
    expect(await fromReplica(600_000, of)).toBe(false)
    expect((await readWithin(of, 600_000).query('select to_regclass($1) is not null as here', ['item'])).rows).toEqual([
      { here: true },
    ])
    await systemClock.sleep(20)
  }
}

test('a server that is no replica of this database is never read', async () => {
  const [primary, other] = servers as [TestServer, TestServer]
  // Its log is further on, so that by its position alone it would hold everything.
  const ahead = createDatabase({ target: { url: other.url }, ...ports })
  for (let n = 0; n < 3; n += 1) await ahead.query('create table if not exists other_item (); select pg_switch_wal()')
  await ahead.close()
  const replicaOfOther = await startReplica(other)
  for (const { url } of [primary, other, replicaOfOther]) {
    const wrong = createDatabase({ target: { url: primary.url }, replica: { url }, ...ports })
    await readForAWhile(wrong)
    await wrong.close()
  }
  await replicaOfOther.stop()
})

test('a replica that went away costs no read', async () => {
  await untilFrom('replica', 5_000)
  await replica.stop()
  for (let n = 0; n < 20; n += 1) expect(await fromReplica(5_000)).toBe(false)
})
