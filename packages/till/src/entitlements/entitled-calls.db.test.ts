import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertTestMandate, randomWallet } from '../credit/credit.fixture.ts'
import { readMigrations } from '../store/migrate.ts'
import { openTestDatabase, type TestDatabase } from '../store/testing.ts'
import { idempotencyKeyPattern, keyWithin } from './entitled-calls.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db.close())

const wallet = randomWallet()

test('calls that were named before the upgrade are found under their names after it', async () => {
  const mandate = await insertTestMandate(db, { owner: wallet, delegate: randomWallet() })
  const digest = createHash('sha256').update(`${mandate} name`).digest('hex')
  const rows = [
    ['a', 'pass', 'pass_1', 'name', null],
    ['b', 'credit', 'eip155:8453', `mandate:${digest}`, mandate],
    ['c', 'credit', 'eip155:8453', `mandate:${digest.replace(/^./, 'z')}`, null],
    ['d', 'credit', 'eip155:8453', 'name', null],
  ]
  for (const row of rows)
    await db.owner.query(
      `insert into entitled_call (id, port, account, subject, amount, route_id, fingerprint, idempotency_key, mandate_id,
         to_clearing, state, held_at, expires_at)
       values ($1, $2, '${wallet}', $3, 1, 'r', 'f', $4, $5, false, 'captured', now(), now())`,
      row,
    )
  const migration = (await readMigrations()).find(({ name }) => name.startsWith('0140'))
  await db.owner.query(migration?.text ?? '')
  const { rows: after } = await db.owner.query<{ id: string; key: string }>(
    'select id, idempotency_key as key from entitled_call order by id',
  )
  expect(after.map(({ key }) => key)).toEqual([
    keyWithin('pass', 'pass_1', 'name'),
    keyWithin('mandate', mandate, 'name'),
    rows[2]?.[3],
    'name',
  ])
})

test('no name that a caller can send is the stored name of somebody else', () => {
  const key = fc.string({ unit: fc.constantFrom(...'ab :_0'), minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(fc.constantFrom('mandate' as const, 'pass' as const), key, key, (scope, id, name) => {
      const stored = keyWithin(scope, id, name) as string
      expect(idempotencyKeyPattern.test(stored)).toBe(false)
      expect(stored.length).toBeLessThanOrEqual(128)
    }),
  )
})
