import { expect, test } from 'vitest'
import { until } from '../../../../test/harness/until.ts'
import { systemClock } from '../kernel/clock.ts'
import { systemRng } from '../kernel/random.ts'
import { markOwnerDead } from '../recovery/store-recover.ts'
import type { Database } from '../store/database.ts'
import { StoreUnavailable } from '../store/errors.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { registerOwner } from './owner.ts'

const db = await useTestDatabase()
const loseSession = (id: bigint) =>
  db.owner.query(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid::bigint = $1::bigint & 4294967295`,
    [id],
  )

test('a process whose session ended begins nothing until PostgreSQL knows it again, and then goes on under its number', async () => {
  let reachable = true
  const database: Database = {
    ...db.database,
    holdLock: async (key) => {
      if (!reachable) throw new Error('connect ECONNREFUSED')
      return db.database.holdLock(key)
    },
  }
  let checked = 0
  const owner = await registerOwner(database, systemClock, systemRng, async () => {
    checked += 1
    if (checked === 1) throw new Error('the chain cannot be read')
  })
  const other = await registerOwner(db.database, systemClock, systemRng)
  const before = owner.lost
  expect(owner.stayAlive()).toBeUndefined()
  reachable = false
  await loseSession(owner.id)
  await until('the loss is noticed', async () => before.aborted)
  await expect(owner.stayAlive()).rejects.toThrow(StoreUnavailable)
  expect([await owner.isAlive(owner.id), await other.isAlive(owner.id)]).toEqual([false, false])
  // What others do with it meanwhile.
  await markOwnerDead(db.database, owner.id, systemClock.nowMs())
  reachable = true
  await until('the lock is held again', async () => !owner.lost.aborted)
  expect(owner.stayAlive()).toBeUndefined()
  // The server may be another one: nothing begins before it was compared.
  expect(checked).toBe(2)
  expect(await other.isAlive(owner.id)).toBe(true)
  const { rows } = await db.owner.query('select dead_at from payment_owner where owner = $1', [owner.id])
  expect(rows).toEqual([{ dead_at: null }])
  // What it held under the session that ended stays lost; what it takes now is held.
  expect([before.aborted, owner.lost.aborted]).toEqual([true, false])
  await owner.release()
  expect(await other.isAlive(owner.id)).toBe(false)
  await other.release()
})
