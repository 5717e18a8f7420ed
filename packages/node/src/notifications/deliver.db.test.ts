import { contentDigest, signatureBase } from '@assay/protocol/signatures/signature-base'
import { sha256 } from '@assay/till/kernel/bytes'
import { verifyEd25519 } from '@assay/till/signing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Delivery, type Got, openDelivery, target, topic, wallet } from './delivery.fixture.ts'
import { addEndpoint, codeOf, proveEndpoint, sendChallenges } from './endpoints.ts'
import { deleteOld, fanOut } from './events.ts'
import { addWatch, extendPlan, removeOwn, revokePlan } from './watches.ts'

let delivery: Delivery
beforeAll(async () => {
  delivery = await openDelivery()
})
afterAll(() => delivery.close())
beforeEach(() => delivery.reset())

const states = async () => (await delivery.deliveries()).map(({ state }) => state)

test('an event reaches a proven endpoint once, signed by the key of the node over target and digest', async () => {
  const { world } = delivery
  await delivery.watched()
  await Promise.all([delivery.publish('one'), delivery.publish('one')])
  await Promise.all([fanOut(delivery.db.database, world.nowMs), fanOut(delivery.db.database, world.nowMs)])
  for (let i = 0; i < 3; i += 1) await delivery.round()
  expect(world.got).toHaveLength(1)
  const { headers, body } = world.got[0] as Got
  expect(JSON.parse(body)).toMatchObject({ type: 'assay.test.topic', subject: 's', data: { text: 'one' } })
  const digest = contentDigest(sha256(body))
  expect(headers['content-digest']).toBe(digest)
  const inner = String(headers['signature-input']).slice('sig1='.length)
  const base = signatureBase(
    [
      { id: '"@method"', value: 'POST' },
      { id: '"@target-uri"', value: target },
      { id: '"content-type"', value: 'application/cloudevents+json' },
      { id: '"content-digest"', value: digest },
      { id: '"webhook-id"', value: String(headers['webhook-id']) },
    ],
    inner,
  )
  const signature = Buffer.from(String(headers.signature).slice('sig1=:'.length, -1), 'base64')
  expect(verifyEd25519(delivery.key.x, Buffer.from(base), signature)).toBe(true)
})

test('nothing is sent before the endpoint has proven itself, nor for an event whose transaction failed', async () => {
  const { deps, world } = delivery
  world.answer = (_, response) => response.end('{}')
  const endpoint = await delivery.watched()
  expect(await delivery.endpointRow(endpoint)).toMatchObject({ state: 'pending' })
  await delivery.publish('early')
  await delivery.round()
  expect(world.got).toEqual([])
  for (let i = 0; i < 6; i += 1) expect(await proveEndpoint(deps, wallet, endpoint, '0'.repeat(16))).toBe('wrong')
  expect(await proveEndpoint(deps, wallet, endpoint, codeOf(deps.secret, endpoint, 1))).toBe('wrong')
  await addEndpoint(deps, wallet, 'webhook', target)
  expect(await proveEndpoint(deps, wallet, endpoint, codeOf(deps.secret, endpoint, 1))).toBe('wrong')
  expect(await proveEndpoint(deps, wallet, endpoint, codeOf(deps.secret, endpoint, 2))).toBe('active')
  const failing = delivery.db.database.transaction(async (tx) => {
    await deps.events.publish(tx, topic.name, [{ subject: 's', key: 'undone', payload: {} }])
    throw new Error('the effect failed')
  })
  await expect(failing).rejects.toThrow()
  await delivery.round()
  expect(world.got).toEqual([])
  await addEndpoint(deps, wallet, 'email', 'a@b.test')
  await delivery.db.owner.query('insert into notification_challenge select $1, $2 from generate_series(1, 3)', [
    'c@d.test',
    new Date(world.nowMs),
  ])
  await expect(addEndpoint(deps, wallet, 'email', 'c@d.test')).rejects.toMatchObject({ code: 'rate_limited' })
})

test('an endpoint that fails is tried again with growing pauses, then given up, and paused after days', async () => {
  const { world } = delivery
  const endpoint = await delivery.watched()
  world.answer = (_, response) => {
    response.statusCode = 500
    response.end('x'.repeat(1_000_000))
  }
  await delivery.publish('lost')
  await fanOut(delivery.db.database, world.nowMs)
  for (let i = 0; i < 40 && (await states())[0] === 'pending'; i += 1) {
    await delivery.round()
    world.nowMs += 2 * 3_600_000
  }
  expect(await states()).toEqual(['dead'])
  expect(world.got).toHaveLength(9)
  world.nowMs += 4 * 86_400_000
  await delivery.publish('late')
  await delivery.round()
  expect(await delivery.endpointRow(endpoint)).toEqual({ state: 'paused', reason: 'failing', last_status: 'http 500' })
  world.got = []
  await delivery.publish('never')
  await delivery.round()
  expect(world.got).toEqual([])
})

test('a redirect, an address that is not public and a broken answer are failures, and nobody else waits for them', async () => {
  const { deps, world } = delivery
  world.answer = ({ body }, response) => (body.includes('challenge') ? response.end(body) : undefined)
  await delivery.watched()
  const inside = await addEndpoint(deps, wallet, 'webhook', 'https://inside.com/')
  await sendChallenges(deps)
  expect(await delivery.endpointRow(inside)).toMatchObject({
    state: 'pending',
    last_status: 'challenge: address_not_global',
  })
  await delivery.publish('moved')
  world.answer = (_, response) => {
    response.writeHead(307, { location: 'https://inside.com/' })
    response.end()
  }
  await delivery.round()
  world.answer = (_, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('short')
    response.socket?.destroy()
  }
  world.nowMs += 60_000
  await delivery.round()
  const { rows } = await delivery.db.database.query('select state, attempts, last_status from notification_delivery')
  expect(rows).toMatchObject([{ state: 'pending', attempts: 2 }])
})

test('watches beyond the free ones need a plan, are paused when it ends and come back with the next', async () => {
  const { deps, world } = delivery
  const endpoint = await delivery.watched()
  const add = (subject: string) => addWatch(deps, wallet, { endpoint, topic: topic.name, subject })
  const second = await add('two')
  await expect(add('three')).rejects.toMatchObject({ code: 'notification_limit' })
  const sale = { paymentId: 'pay_1', round: 0, payer: wallet }
  const extend = () => delivery.db.database.transaction((tx) => extendPlan(tx, sale, world.nowMs))
  expect(await extend()).toBe(world.nowMs + 30 * 86_400_000)
  expect(await extend()).toBe(world.nowMs + 30 * 86_400_000)
  await add('three')
  const delivered = async (name: string) => {
    await delivery.publish(name, 'three')
    await delivery.round()
    return world.got.some(({ body }) => body.includes(`"text":"${name}"`))
  }
  expect(await delivered('while paid')).toBe(true)
  await delivery.db.database.transaction((tx) => revokePlan(tx, sale))
  expect(await delivered('unpaid')).toBe(false)
  expect(await removeOwn(deps, `0x${'2'.repeat(40)}`, second)).toBe(false)
  expect(await removeOwn(deps, wallet, second)).toBe(true)
  expect(await delivered('free again')).toBe(true)
})

test('mail is plain text through SMTP, proven by a code', async () => {
  const { deps } = delivery
  const endpoint = await addEndpoint(deps, wallet, 'email', 'reader@mail.test')
  await sendChallenges(deps)
  const code = /Code: (\w{16})/.exec(delivery.smtp.mails.at(-1) ?? '')?.[1] ?? ''
  expect(await proveEndpoint(deps, wallet, endpoint, code)).toBe('active')
  await addWatch(deps, wallet, { endpoint, topic: topic.name, subject: 's' })
  await delivery.publish('line\r\nBcc: other@mail.test')
  await delivery.round()
  const mail = delivery.smtp.mails.at(-1) ?? ''
  expect(mail).toMatch(/^Subject: s: line Bcc: other@mail\.test$/m)
  expect(mail.split('\n\n')[0]).not.toMatch(/^Bcc:/m)
})

test('everything that is kept has an end', async () => {
  const { deps, world } = delivery
  await delivery.watched()
  await delivery.publish('old')
  await delivery.round()
  const endpoint = await addEndpoint(deps, wallet, 'email', 'never@mail.test')
  world.nowMs += 15 * 86_400_000
  await deleteOld(delivery.db.database, world.nowMs)
  expect(await delivery.endpointRow(endpoint)).toBeUndefined()
  expect(await states()).toEqual([])
  world.nowMs += 90 * 86_400_000
  await deleteOld(delivery.db.database, world.nowMs)
  expect(await deps.events.recent(topic.name, { limit: 10 })).toEqual([])
})
