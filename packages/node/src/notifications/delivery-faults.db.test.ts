import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from '@assay/protocol/address'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { until } from '../../../../test/harness/until.ts'
import { deliverDue } from './deliver.ts'
import { type Delivery, openDelivery, topic } from './delivery.fixture.ts'
import { fanOut } from './events.ts'
import { feedRoute } from './feed-route.ts'

let delivery: Delivery
beforeAll(async () => {
  delivery = await openDelivery()
})
afterAll(() => delivery.close())
beforeEach(() => delivery.reset())

const other = `0x${'2'.repeat(40)}` as Address
const dayMs = 86_400_000

/** Requests to paths that begin with `/slow` get no answer until the test gives one. */
function holdSlow(): ServerResponse[] {
  const held: ServerResponse[] = []
  delivery.world.answer = ({ path, body }, response) => {
    if (path.startsWith('/slow')) held.push(response)
    else response.end(body)
  }
  return held
}

const fail = (held: ServerResponse[]) => {
  for (const response of held.splice(0)) {
    response.statusCode = 500
    response.end()
  }
}

const gotAt = (path: string) => delivery.world.got.filter((one) => one.path === path)

test('while a webhook hangs, others get what happens meanwhile, and it gets one request at a time', async () => {
  const slow = await delivery.watched('http://hook.test/slow', 's', other)
  const quick = await delivery.watched('http://hook.test/quick')
  const held = holdSlow()
  await delivery.publish('first')
  const running = delivery.round()
  await until('the first event', () => gotAt('/quick').length === 1 && held.length === 1)
  for (const key of ['second', 'third']) await delivery.publish(key)
  await until('what happened meanwhile', () => gotAt('/quick').length === 3)
  expect(held).toHaveLength(1)
  fail(held)
  await running
  expect((await delivery.deliveries(quick)).map(({ state }) => state)).toEqual(['sent', 'sent', 'sent'])
  const [first, ...rest] = await delivery.deliveries(slow)
  expect(first).toEqual({ state: 'pending', attempts: 1, last_status: 'http 500' })
  // It waits as a whole: nothing of its backlog is tried on an endpoint that has just failed.
  expect(rest.map(({ attempts }) => attempts)).toEqual([0, 0])
})

test('endpoints that failed and hang again do not take the places of others, however many they are', async () => {
  const { db, world } = delivery
  const quick = await delivery.watched('http://hook.test/quick', 'q')
  await db.owner.query(
    `insert into notification_endpoint (id, wallet, kind, target, state, challenge_due, failing_since, created_at, changed_at)
     select 'nep_slow' || n, $1, 'webhook', 'http://hook.test/slow' || n, 'active', false, $2, $2, $2 from generate_series(1, 60) n`,
    [other, new Date(world.nowMs - 60_000)],
  )
  await db.owner.query(
    `insert into notification_watch (id, wallet, endpoint, topic, subject, paid, created_at)
     select 'nwt_slow' || n, $1, 'nep_slow' || n, $2, 's', false, $3 from generate_series(1, 60) n`,
    [other, topic.name, new Date(world.nowMs - 1)],
  )
  const held = holdSlow()
  await delivery.publish('for the slow ones')
  const running = delivery.round()
  await until('some hang', () => held.length >= 8)
  for (const key of ['one', 'two', 'three']) await delivery.publish(key, 'q')
  const sent = async () => (await delivery.deliveries(quick)).filter(({ state }) => state === 'sent').length
  await until('the others are served', async () => (await sent()) === 3)
  expect(gotAt('/quick')).toHaveLength(3)
  expect(held).toHaveLength(8)
  const ended = running.then(() => 'ended')
  for (let last = ''; last !== 'ended'; last = await Promise.race([ended, sleep(25, '')])) fail(held)
})

test('two processes send an event once; after a crash it comes again, later and with the same id', async () => {
  const endpoint = await delivery.watched()
  await delivery.publish('once')
  await Promise.all([delivery.round(), delivery.round(), delivery.round()])
  expect(delivery.world.got).toHaveLength(1)
  await delivery.publish('crash')
  const whole = delivery.deps.database
  await fanOut(whole, delivery.world.nowMs)
  // The first transaction looks for events, the second records what became of the request.
  const transaction = vi
    .fn()
    .mockImplementationOnce(whole.transaction)
    .mockRejectedValue(new Error('the process ends here'))
  const database = { ...whole, transaction }
  await expect(deliverDue({ ...delivery.deps, database })).rejects.toThrow('the process ends here')
  await delivery.round()
  expect(delivery.world.got).toHaveLength(2)
  delivery.world.nowMs += 11_000
  await delivery.round()
  expect(delivery.world.got.map(({ headers }) => headers['webhook-id'])).toEqual([
    'test.topic:s:once',
    'test.topic:s:crash',
    'test.topic:s:crash',
  ])
  expect(await delivery.deliveries(endpoint)).toMatchObject([{ state: 'sent' }, { state: 'sent', attempts: 2 }])
})

test('a stop starts nothing new and waits for what is under way', async () => {
  await delivery.watched('http://hook.test/slow', 's', other)
  await delivery.watched('http://hook.test/quick', 'q')
  const held = holdSlow()
  await delivery.publish('under way')
  const stopping = new AbortController()
  const running = delivery.round(stopping.signal)
  await until('it is under way', () => held.length === 1)
  stopping.abort()
  await delivery.publish('too late', 'q')
  let hasEnded = false
  void running.then(() => {
    hasEnded = true
  })
  const polls = vi.spyOn(delivery.deps.clock, 'sleep')
  await until('it polled twice more', () => polls.mock.calls.length >= 4)
  expect(hasEnded).toBe(false)
  expect(gotAt('/quick')).toEqual([])
  for (const response of held) response.end()
  await running
  expect(gotAt('/quick')).toEqual([])
})

test('an event that cannot be sent fails alone', async () => {
  const { deps, world } = delivery
  const [bad, good] = [await delivery.watched('http://hook.test/bad', 'b', other), await delivery.watched()]
  const webhook = {
    ...deps.channels.webhook,
    send: (...given: Parameters<typeof deps.channels.webhook.send>) =>
      given[0].endsWith('bad') ? Promise.reject(new Error('not a header')) : deps.channels.webhook.send(...given),
  }
  await delivery.publish('poison', 'b')
  await delivery.publish('line\u0001\r\nX-Injected: 1')
  await deliverDue({ ...deps, channels: { ...deps.channels, webhook } })
  expect(await delivery.deliveries(bad)).toEqual([{ state: 'pending', attempts: 1, last_status: 'could not be sent' }])
  expect(await delivery.deliveries(good)).toMatchObject([{ state: 'sent' }])
  expect(world.got[0]?.headers).toMatchObject({ 'webhook-id': 'test.topic:s:line%01%0D%0AX-Injected:%201' })
  expect(world.got[0]?.headers).not.toHaveProperty('x-injected')
})

for (const manner of ['hangs', 'drips', 'busy'] as const)
  test(`a mail server that ${manner === 'busy' ? 'is busy' : manner} holds up no webhook, pauses nobody and rings once; the mail leaves when it is back`, async () => {
    const { smtp, world } = delivery
    const mails = [await delivery.mailed('a@mail.test'), await delivery.mailed('b@mail.test', 's', other)]
    const hook = await delivery.watched('http://hook.test/quick', 's', other)
    smtp.behave(manner)
    smtp.mails.length = 0
    await delivery.publish('news')
    const running = delivery.round()
    await until('the webhook', () => gotAt('/quick').length === 1)
    await running
    expect(await delivery.deliveries(hook)).toMatchObject([{ state: 'sent' }])
    for (const id of mails) {
      expect(await delivery.deliveries(id)).toMatchObject([{ state: 'pending', attempts: 0, last_status: /^smtp / }])
      expect(await delivery.endpointRow(id)).toMatchObject({ state: 'active' })
    }
    expect(world.alarms).toEqual(['smtp_unavailable'])
    smtp.behave('takes')
    world.nowMs += 61_000
    await delivery.round()
    expect(smtp.mails).toHaveLength(2)
    const ids = smtp.mails.map((mail) => /^Message-ID: (.+)$/im.exec(mail)?.[1])
    expect(ids).toEqual([ids[0], ids[0]])
  })

test('a mailbox that does not exist gets one mail, one that is full for now gets another', async () => {
  const { smtp, world } = delivery
  const endpoint = await delivery.mailed('a@mail.test')
  smtp.behave('refuses')
  await delivery.publish('refused')
  await delivery.round()
  expect(await delivery.deliveries(endpoint)).toEqual([{ state: 'dead', attempts: 1, last_status: 'smtp 550' }])
  expect(await delivery.endpointRow(endpoint)).toEqual({ state: 'active', reason: '', last_status: 'smtp 550' })
  world.nowMs += 11_000
  smtp.behave('defers')
  await delivery.publish('deferred')
  await delivery.round()
  expect((await delivery.deliveries(endpoint))[1]).toEqual({ state: 'pending', attempts: 1, last_status: 'smtp 451' })
  expect(world.alarms).toEqual([])
})

test('what could not leave for three days is given up and says why', async () => {
  const { smtp, world } = delivery
  const endpoint = await delivery.mailed('a@mail.test')
  smtp.behave('busy')
  await delivery.publish('old news')
  await delivery.round()
  world.nowMs += 4 * dayMs
  await delivery.round()
  expect(await delivery.deliveries(endpoint)).toEqual([{ state: 'dead', attempts: 0, last_status: 'smtp 421' }])
})

test('a feed lists an event once, escapes what it says, and answers while webhooks hang', async () => {
  const { deps } = delivery
  await delivery.watched('http://hook.test/slow', 's', other)
  const held = holdSlow()
  const text = '<script>&"\u0001]]></item>'
  for (let copies = 0; copies < 3; copies += 1) await delivery.publish(text)
  const running = delivery.round()
  await until('it hangs', () => held.length === 1)
  const { access } = feedRoute({ ...deps, topics: new Map([[topic.name, topic]]) })
  if (access.kind !== 'free') throw new Error('a feed is free')
  const { body } = await access.handle(
    { params: { topic: topic.name, subject: 's' }, query: {}, body: undefined } as never,
    {} as never,
  )
  const feed = String(body)
  expect(feed.match(/<item>/g)).toHaveLength(1)
  expect(feed).toContain('<title>&lt;script&gt;&amp;&quot;]]&gt;&lt;/item&gt;</title>')
  expect(held).toHaveLength(1)
  fail(held)
  await running
})
