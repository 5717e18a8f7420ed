import type { Address } from '@assay/protocol/address'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Delivery, openDelivery, target, wallet } from './delivery.fixture.ts'
import { addEndpoint } from './endpoints.ts'
import { deleteOld } from './events.ts'
import { blockTarget, readDeliveryStatus, retryDead } from './operate.ts'
import { removeOwn } from './watches.ts'

let delivery: Delivery
beforeAll(async () => {
  delivery = await openDelivery()
})
afterAll(() => delivery.close())
beforeEach(() => delivery.reset())

const act = { actor: 'cli test', reason: 'asked us to stop' }
const other = `0x${'2'.repeat(40)}` as Address

test('the operator sees what waits, how late it is, what was given up and who fails', async () => {
  const { db, world, smtp } = delivery
  const hook = await delivery.watched()
  const mail = await delivery.mailed('a@mail.test', 's', other)
  world.answer = (_, response) => {
    response.statusCode = 500
    response.end()
  }
  smtp.behave('refuses')
  await delivery.publish('one')
  await delivery.round()
  world.nowMs += 5_000
  const { endpoints, deliveries, failing } = await readDeliveryStatus(db.database, world.nowMs)
  expect(endpoints).toEqual([
    { kind: 'email', state: 'active', reason: '', endpoints: 1n },
    { kind: 'webhook', state: 'active', reason: '', endpoints: 1n },
  ])
  expect(deliveries).toEqual([
    { kind: 'email', waiting: 0n, oldest_due_at: null, sent_day: 0n, dead_day: 1n },
    { kind: 'webhook', waiting: 1n, oldest_due_at: null, sent_day: 0n, dead_day: 0n },
  ])
  expect(failing.sort((a, b) => b.kind.localeCompare(a.kind))).toMatchObject([
    { id: hook, target, waiting: 1n, last_status: 'http 500' },
    { id: mail, target: 'a@mail.test', waiting: 0n, last_status: 'smtp 550' },
  ])
  world.nowMs += 25_000
  const later = (await readDeliveryStatus(db.database, world.nowMs)).deliveries[1]
  expect(later?.oldest_due_at).toEqual(new Date(world.nowMs - 20_000))
})

test('what was given up is sent again when the operator says so, and the audit log has the reason', async () => {
  const { db, world, smtp } = delivery
  const endpoint = await delivery.mailed('a@mail.test')
  smtp.behave('refuses')
  await delivery.publish('one')
  await delivery.round()
  expect(await delivery.deliveries(endpoint)).toMatchObject([{ state: 'dead' }])
  smtp.behave('takes')
  expect(await retryDead(db.database, 'nep_unknown', act, world.nowMs)).toBe(0)
  expect(await retryDead(db.database, undefined, act, world.nowMs)).toBe(1)
  await delivery.round()
  expect(await delivery.deliveries(endpoint)).toMatchObject([{ state: 'sent', attempts: 1 }])
  const { rows } = await db.owner.query(`select subject, details from audit_log where action = 'notifications.retry'`)
  expect(rows).toMatchObject([{ subject: 'all', details: { reason: act.reason } }])
})

test('a blocked target gets nothing, not even a challenge, from any wallet, and cannot be freed by its owner', async () => {
  const { db, deps, world } = delivery
  const endpoint = await delivery.watched()
  await delivery.publish('waiting')
  expect(await blockTarget(db.database, 'http://hook.test/unknown', act, world.nowMs)).toBe(0)
  expect(await blockTarget(db.database, target, act, world.nowMs)).toBe(1)
  await delivery.round()
  expect(world.got).toEqual([])
  expect(await removeOwn(deps, wallet, endpoint)).toBe(false)
  for (const owner of [wallet, other])
    await expect(addEndpoint(deps, owner, 'webhook', target)).rejects.toMatchObject({ code: 'notification_limit' })
  await deleteOld(db.database, world.nowMs + 200 * 86_400_000)
  expect(await delivery.endpointRow(endpoint)).toMatchObject({ state: 'paused', reason: 'operator' })
  expect(await retryDead(db.database, undefined, act, world.nowMs)).toBe(0)
})
