import { expect, test } from 'vitest'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { removeIdle } from './remove-idle.ts'

const db = await useTestDatabase()

test('payers with something in flight, losses of this month and living processes are kept, the rest is deleted', async () => {
  const nowMs = Date.UTC(2026, 5, 15, 12)
  await db.owner.query(
    `insert into payer_in_flight (network, payer, in_flight, in_flight_micro) values ('eip155:8453', '0xa', 0, 0), ('eip155:8453', '0xb', 1, 5)`,
  )
  await db.owner.query(
    `insert into settlement_loss (day, scope, key, failures) values ('2026-05-01', 'payer', '0xa', 3), ('2026-06-14', 'payer', '0xa', 2)`,
  )
  await db.owner.query(
    `insert into payment_owner (owner, started_at, dead_at) values
       (1, '2026-05-01', '2026-05-02'), (2, '2026-05-01', '2026-06-14'), (3, '2026-05-01', null)`,
  )
  await removeIdle(db.database, nowMs)
  expect((await db.owner.query('select payer from payer_in_flight')).rows).toEqual([{ payer: '0xb' }])
  expect((await db.owner.query('select failures from settlement_loss')).rows).toEqual([{ failures: 2 }])
  expect((await db.owner.query('select owner::int as owner from payment_owner order by owner')).rows).toEqual([
    { owner: 2 },
    { owner: 3 },
  ])
})

test('entitled calls are not kept for ever: what came to nothing goes, what was taken loses its name', async () => {
  const nowMs = Date.UTC(2026, 5, 15, 12)
  const call = (id: string, state: string, key: string | null, endedAt: string | null) =>
    db.owner.query(
      `insert into entitled_call (id, port, account, subject, amount, route_id, fingerprint, to_clearing, idempotency_key, state,
         held_at, expires_at, ended_at)
       values ($1, 'credit', '0x' || repeat('1', 40), 'eip155:8453', 5, 'test.answer', 'f', false, $2, $3, '2026-01-01',
         '2026-01-01', $4)`,
      [id, key, state, endedAt],
    )
  await call('old-void', 'released', 'a', '2026-05-01')
  await call('new-void', 'released', 'a', '2026-06-14')
  await call('old-taken', 'captured', 'b', '2026-05-01')
  await call('new-taken', 'captured', 'c', '2026-06-14')
  await call('under-way', 'held', 'd', null)
  await removeIdle(db.database, nowMs)
  const { rows } = await db.owner.query('select id, idempotency_key as key from entitled_call order by id')
  expect(rows).toEqual([
    { id: 'new-taken', key: 'c' },
    { id: 'new-void', key: 'a' },
    { id: 'old-taken', key: null },
    { id: 'under-way', key: 'd' },
  ])
})

test('refusals that are over go, and mandates that ran out without ever being drawn on', async () => {
  const nowMs = Date.UTC(2026, 5, 15, 12)
  const address = (n: number) => `0x${String(n).repeat(40)}`
  for (const [n, until] of [
    [1, '2026-06-15T11:00:00Z'],
    [2, '2026-06-15T13:00:00Z'],
  ] as const)
    await db.owner.query(`insert into refused_payer values ($1, 'test', 'test', $2)`, [address(n), until])
  const mandate = (n: number, validUntil: string, totalMicro: number) =>
    db.owner.query(
      `insert into mandate (id, owner, delegate, chain_id, owner_kind, routes, cap_call_micro, cap_day_micro, cap_total_micro,
         valid_until, nonce, signature, created_at, total_micro)
       values ('mdt_' || repeat($1, 40), '0x' || repeat('a', 40), '0x' || repeat('b', 40), 8453, 'key', '{*}', 1, 1, 1, $2,
         sha256(convert_to($1, 'UTF8')), 'x', '2026-01-01', $3)`,
      [String(n), validUntil, totalMicro],
    )
  await mandate(1, '2026-05-01', 0)
  await mandate(2, '2026-05-01', 1)
  await mandate(3, '2026-06-10', 0)
  await removeIdle(db.database, nowMs)
  expect((await db.owner.query('select payer from refused_payer')).rows).toEqual([{ payer: address(2) }])
  expect((await db.owner.query('select right(id, 1) as n from mandate order by id')).rows).toEqual([
    { n: '2' },
    { n: '3' },
  ])
})
