import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { readAudit, verifyAudit, writeAudit } from './audit-log.ts'
import { ensureInstance, InstanceMismatch, readInstanceKey, recordInstanceKey } from './instance.ts'
import { claimNonce, purgeNonces } from './nonce-claims.ts'
import { createPauseReader, readPauses, setPause } from './pauses.ts'
import { useTestDatabase } from './use-database.fixture.ts'

const db = await useTestDatabase()

test('the instance row is written once and later starts name each difference', async () => {
  const facts = {
    mode: 'demo',
    chains: [
      { id: 'eip155:8453', genesis: '0x01' },
      { id: 'eip155:137', genesis: '0x02' },
    ],
    assets: { 'eip155:8453': '0xaa' },
    payees: { 'pay_to eip155:8453': '0xbb' },
    keyId: 'k1',
  }
  const both = await Promise.all([ensureInstance(db.database, facts), ensureInstance(db.database, facts)])
  expect(both.sort()).toEqual(['same', 'written'])
  expect(await ensureInstance(db.database, { ...facts, chains: [...facts.chains].reverse() })).toBe('same')
  const other = { ...facts, mode: 'production', payees: { 'pay_to eip155:8453': '0xcc' } }
  const error = await ensureInstance(db.database, other).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(InstanceMismatch)
  expect((error as InstanceMismatch).differences).toHaveLength(2)
  expect((error as Error).message).toMatch(/mode: the database has "demo", the settings "production"/)
  await recordInstanceKey(db.database, 'k2', 'operator')
  expect(await readInstanceKey(db.database)).toBe('k2')
  await expect(db.database.query(`update instance set mode = 'production'`)).rejects.toThrow(/fixed/)
  await expect(db.owner.query('delete from instance')).rejects.toThrow(/fixed/)
})

test('a pause takes effect on readers at once and leaves an audit row', async () => {
  const reader = await createPauseReader(db.database, systemClock)
  expect((await reader.read()).get('sales').paused).toBe(false)
  await setPause(db.database, { name: 'sales', paused: true, reason: 'drill', by: 'operator' })
  await expect
    .poll(async () => (await reader.read()).get('sales'))
    .toMatchObject({ paused: true, reason: 'drill', changedBy: 'operator' })
  expect((await readPauses(db.database)).get('payouts').paused).toBe(false)
  const [last] = await readAudit(db.database, { limit: 1 })
  expect(last).toMatchObject({ action: 'pause', subject: 'sales', details: { reason: 'drill' } })
  await reader.stop()
})

test('the audit log is one chain for all writers, only grows, and shows the first row that was touched', async () => {
  const entry = (n: number) => ({ actor: 'someone', action: 'test', subject: `s${n}`, details: { n } })
  await Promise.all(Array.from({ length: 20 }, (_, n) => db.database.transaction((tx) => writeAudit(tx, entry(n)))))
  expect(await verifyAudit(db.database)).toBeUndefined()
  for (const sql of [db.database, db.owner]) {
    await expect(sql.query(`update audit_log set actor = 'x'`)).rejects.toMatchObject({ code: '42501' })
    await expect(sql.query('delete from audit_log')).rejects.toMatchObject({ code: '42501' })
  }
  const [last] = await readAudit(db.database, { limit: 1 })
  const victim = (last?.id ?? 0n) - 3n
  await db.owner.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    await tx.query(`update audit_log set details = '{"n": -1}' where id = $1`, [victim])
  })
  expect(await verifyAudit(db.database)).toEqual({ id: victim })
})

test('a nonce can be claimed once, by one of any number of callers', async () => {
  const claim = { scope: 'siwx', key: 'abc', expiresAtMs: 10_000 }
  const outcomes = await Promise.all(Array.from({ length: 100 }, () => claimNonce(db.database, claim)))
  expect(outcomes.filter(Boolean)).toHaveLength(1)
  expect(await claimNonce(db.database, { ...claim, scope: 'erc8128' })).toBe(true)
  expect(await purgeNonces(db.database, 20_000)).toBe(0)
  expect(await purgeNonces(db.database, 10_000 + 6 * 60_000)).toBe(2)
  expect(await claimNonce(db.database, claim)).toBe(true)
})

test('whatever names a payment is compared as payments are, so that its index is used', async () => {
  const { rows } = await db.owner.query<{ column: string }>(
    `select c.relname || '.' || a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
       join pg_collation o on o.oid = a.attcollation
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attname in ('payment_id', 'call_id')
       and o.collname <> 'C'`,
  )
  expect(rows).toEqual([])
})
