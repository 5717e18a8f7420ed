import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../store/testing.ts'
import { forgetIdle } from './forget-idle.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db.close())

test('payers with something in flight, losses of this month and living processes are kept, the rest is forgotten', async () => {
  const nowMs = Date.UTC(2026, 5, 15, 12)
  await db.owner.query(`insert into payer_flight values ('eip155:8453', '0xa', 0, 0), ('eip155:8453', '0xb', 1, 5)`)
  await db.owner.query(
    `insert into settlement_loss (day, scope, key, failures) values ('2026-05-01', 'payer', '0xa', 3), ('2026-06-14', 'payer', '0xa', 2)`,
  )
  await db.owner.query(
    `insert into payment_owner (owner, started_at, dead_at) values
       (1, '2026-05-01', '2026-05-02'), (2, '2026-05-01', '2026-06-14'), (3, '2026-05-01', null)`,
  )
  await forgetIdle(db.database, nowMs)
  expect((await db.owner.query('select payer from payer_flight')).rows).toEqual([{ payer: '0xb' }])
  expect((await db.owner.query('select failures from settlement_loss')).rows).toEqual([{ failures: 2 }])
  expect((await db.owner.query('select owner::int as owner from payment_owner order by owner')).rows).toEqual([
    { owner: 2 },
    { owner: 3 },
  ])
})
