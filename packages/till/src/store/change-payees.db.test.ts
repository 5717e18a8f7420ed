import { expect, test } from 'vitest'
import { changePayees } from './change-payees.ts'
import { ensureInstance, InstanceMismatch } from './instance.ts'
import { useTestDatabase } from './use-database.fixture.ts'

const db = await useTestDatabase()

const facts = (payTo: string) => ({
  mode: 'demo',
  chains: [{ id: 'eip155:8453', genesis: '0x1' }],
  assets: { 'eip155:8453': '0x2' },
  payees: { 'pay_to eip155:8453': payTo },
  keyId: 'key',
})
const by = { actor: 'test', reason: 'the key was stolen' }

test('payees are changed on purpose and audited, and by nothing else', async () => {
  await db.owner.query('delete from instance').catch(() => undefined)
  await ensureInstance(db.database, facts('0xold'))
  await expect(ensureInstance(db.database, facts('0xnew'))).rejects.toThrow(/assay payees change/)
  await expect(db.database.query(`update instance set payees = '{}'`)).rejects.toThrow('the instance row is fixed')
  expect(await changePayees(db.database, facts('0xnew').payees, by)).toEqual({
    before: { 'pay_to eip155:8453': '0xold' },
    after: { 'pay_to eip155:8453': '0xnew' },
  })
  expect(await ensureInstance(db.database, facts('0xnew'))).toBe('same')
  await expect(ensureInstance(db.database, facts('0xold'))).rejects.toThrow(InstanceMismatch)
  expect(await changePayees(db.database, facts('0xnew').payees, by)).toBeUndefined()
  const { rows } = await db.owner.query(`select actor, action, details->>'reason' as reason from audit_log`)
  expect(rows).toEqual([{ actor: 'test', action: 'instance.payees', reason: 'the key was stolen' }])
})

test('a change that leaves an address out is refused', async () => {
  await expect(changePayees(db.database, {}, by)).rejects.toThrow('the configuration has no pay_to eip155:8453')
})
