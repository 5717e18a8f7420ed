import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Address } from '@assay/protocol/address'
import { contentDigest, signatureBase } from '@assay/protocol/signatures/signature-base'
import { createJwsPort } from '@assay/till/compose'
import { sha256 } from '@assay/till/kernel/bytes'
import { type Clock, systemClock } from '@assay/till/kernel/clock'
import { createIds } from '@assay/till/kernel/ids'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import { createFixedKeyring, generateSigningKey, verifyEd25519 } from '@assay/till/signing'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { listenHttp, outboundFor, tableResolver } from '../outbound/outbound.fixture.ts'
import { deliverDue } from './deliver.ts'
import { addEndpoint, codeOf, proveEndpoint, sendChallenges } from './endpoints.ts'
import { createNotifications, fanOut, forgetOld } from './events.ts'
import { createMail } from './mail-adapter.ts'
import type { Topic } from './port.ts'
import { parseNotificationSettings } from './settings.ts'
import { startSmtpServer } from './smtp-server.fixture.ts'
import { addWatch, extendPlan, removeOwn, takeBackPlan } from './watches.ts'
import { createWebhook } from './webhook.ts'

let nowMs = 1_794_000_000_000
const clock: Clock = { ...systemClock, nowMs: () => nowMs }
const key = generateSigningKey(systemRng)
const keyring = createFixedKeyring(key, 0)
type Got = { headers: IncomingHttpHeaders; body: string }
let got: Got[] = []
let answer: (got: Got, response: ServerResponse) => void
const echo = ({ body }: Got, response: ServerResponse) => response.end(body)

const [db, smtp] = await Promise.all([useTestDatabase(), startSmtpServer()])
const hook = await listenHttp((request, response) => {
  let body = ''
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    const seen = { headers: request.headers, body }
    got.push(seen)
    answer(seen, response)
  })
})
afterAll(() => Promise.all([hook.close(), smtp.close()]))
beforeEach(() => {
  got = []
  answer = echo
  smtp.behave('takes')
})
afterEach(async () => {
  for (const table of ['event', 'endpoint', 'challenge', 'plan', 'plan_sale'])
    await db.owner.query(`delete from notification_${table}`)
})

const topic: Topic = { name: 'test.topic', title: 'Test', isPublic: true, subjectOf: (text) => text }
const wallet = `0x${'1'.repeat(40)}` as Address
const target = 'http://hook.test/in?x=1'
const secret = Buffer.alloc(32, 7)
const settings = parseNotificationSettings({ free_watches: 2, mail_from: 'node@node.test' }, 'smtp://x')

function engine() {
  const { database } = db
  const mapped = { address: '127.0.0.1', port: hook.port }
  const outbound = outboundFor({
    resolvers: [tableResolver({ 'inside.com': ['10.0.0.8'] })],
    loopbackHosts: new Map([['hook.test', mapped]]),
  })
  const topics = new Map([[topic.name, topic]])
  return {
    database,
    clock,
    log: silentLog,
    metrics: silentMetrics,
    jws: createJwsPort(keyring, ['node.test'], clock),
    baseUrl: 'https://node.test',
    channels: {
      webhook: createWebhook({ outbound, keyring, clock, plainHttp: true }),
      email: createMail({ url: smtp.url, from: 'node@node.test', log: silentLog, nodeUrl: 'https://node.test' }),
    },
    secret,
    settings,
    ids: createIds(clock, systemRng),
    events: createNotifications({ database, clock }, topics),
  }
}

async function watched(deps: ReturnType<typeof engine>, where = target, subject = 's') {
  const endpoint = await addEndpoint(deps, wallet, 'webhook', where)
  await sendChallenges(deps)
  await addWatch(deps, wallet, { endpoint, topic: topic.name, subject })
  got = []
  return endpoint
}

const publish = (deps: ReturnType<typeof engine>, key: string, subject = 's') =>
  db.database.transaction((tx) => deps.events.publish(tx, topic.name, [{ subject, key, payload: { text: key } }]))

async function round(deps: ReturnType<typeof engine>) {
  await fanOut(db.database, nowMs)
  return deliverDue(deps)
}

const endpointRow = async (id: string) =>
  (await db.database.query('select state, reason, last_status from notification_endpoint where id = $1', [id])).rows[0]
const states = async () =>
  (await db.database.query<{ state: string }>('select state from notification_delivery order by id')).rows.map(
    ({ state }) => state,
  )

test('an event reaches a proven endpoint once, signed by the key of the node over target and digest', async () => {
  const deps = engine()
  await watched(deps)
  await Promise.all([publish(deps, 'one'), publish(deps, 'one')])
  await Promise.all([fanOut(db.database, nowMs), fanOut(db.database, nowMs)])
  for (let i = 0; i < 3; i += 1) await round(deps)
  expect(got).toHaveLength(1)
  const { headers, body } = got[0] as Got
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
  expect(verifyEd25519(key.x, Buffer.from(base), signature)).toBe(true)
})

test('nothing is sent before the endpoint has proven itself, nor for an event whose transaction failed', async () => {
  const deps = engine()
  answer = (_, response) => response.end('{}')
  const endpoint = await watched(deps)
  expect(await endpointRow(endpoint)).toMatchObject({ state: 'pending' })
  await publish(deps, 'early')
  await round(deps)
  expect(got).toEqual([])
  for (let i = 0; i < 6; i += 1) expect(await proveEndpoint(deps, wallet, endpoint, '0'.repeat(16))).toBe('wrong')
  expect(await proveEndpoint(deps, wallet, endpoint, codeOf(secret, endpoint, 1))).toBe('wrong')
  await addEndpoint(deps, wallet, 'webhook', target)
  expect(await proveEndpoint(deps, wallet, endpoint, codeOf(secret, endpoint, 1))).toBe('wrong')
  expect(await proveEndpoint(deps, wallet, endpoint, codeOf(secret, endpoint, 2))).toBe('active')
  const failing = db.database.transaction(async (tx) => {
    await deps.events.publish(tx, topic.name, [{ subject: 's', key: 'undone', payload: {} }])
    throw new Error('the effect failed')
  })
  await expect(failing).rejects.toThrow()
  await round(deps)
  expect(got).toEqual([])
  await addEndpoint(deps, wallet, 'email', 'a@b.test')
  await db.owner.query('insert into notification_challenge select $1, $2 from generate_series(1, 3)', [
    'c@d.test',
    new Date(nowMs),
  ])
  await expect(addEndpoint(deps, wallet, 'email', 'c@d.test')).rejects.toMatchObject({ code: 'rate_limited' })
})

test('an endpoint that fails is tried again with growing pauses, then given up, and paused after days', async () => {
  const deps = engine()
  const endpoint = await watched(deps)
  answer = (_, response) => {
    response.statusCode = 500
    response.end('x'.repeat(1_000_000))
  }
  await publish(deps, 'lost')
  await fanOut(db.database, nowMs)
  for (let i = 0; i < 40 && (await states())[0] === 'pending'; i += 1) {
    await deliverDue(deps)
    nowMs += 2 * 3_600_000
  }
  expect(await states()).toEqual(['dead'])
  expect(got).toHaveLength(9)
  nowMs += 4 * 86_400_000
  await publish(deps, 'late')
  await round(deps)
  expect(await endpointRow(endpoint)).toEqual({ state: 'paused', reason: 'failing', last_status: 'http 500' })
  got = []
  await publish(deps, 'never')
  await round(deps)
  expect(got).toEqual([])
})

test('a redirect, an address that is not public and a broken answer are failures, and nobody else waits for them', async () => {
  const deps = engine()
  answer = ({ body }, response) => (body.includes('challenge') ? response.end(body) : undefined)
  await watched(deps)
  const inside = await addEndpoint(deps, wallet, 'webhook', 'https://inside.com/')
  await sendChallenges(deps)
  expect(await endpointRow(inside)).toMatchObject({ state: 'pending', last_status: 'challenge: address_not_global' })
  await publish(deps, 'moved')
  answer = (_, response) => {
    response.writeHead(307, { location: 'https://inside.com/' })
    response.end()
  }
  await round(deps)
  answer = (_, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('short')
    response.socket?.destroy()
  }
  nowMs += 60_000
  await round(deps)
  const { rows } = await db.database.query('select state, attempts, last_status from notification_delivery')
  expect(rows).toMatchObject([{ state: 'pending', attempts: 2 }])
})

test('watches beyond the free ones need a plan, are paused when it ends and come back with the next', async () => {
  const deps = engine()
  const endpoint = await watched(deps)
  const add = (subject: string) => addWatch(deps, wallet, { endpoint, topic: topic.name, subject })
  const second = await add('two')
  await expect(add('three')).rejects.toMatchObject({ code: 'notification_limit' })
  const sale = { paymentId: 'pay_1', round: 0, payer: wallet }
  const extend = () => db.database.transaction((tx) => extendPlan(tx, sale, nowMs))
  expect(await extend()).toBe(nowMs + 30 * 86_400_000)
  expect(await extend()).toBe(nowMs + 30 * 86_400_000)
  await add('three')
  const delivered = async (name: string) => {
    await publish(deps, name, 'three')
    await round(deps)
    return got.some(({ body }) => body.includes(`"text":"${name}"`))
  }
  expect(await delivered('while paid')).toBe(true)
  await db.database.transaction((tx) => takeBackPlan(tx, sale))
  expect(await delivered('unpaid')).toBe(false)
  expect(await removeOwn(deps, `0x${'2'.repeat(40)}`, second)).toBe(false)
  expect(await removeOwn(deps, wallet, second)).toBe(true)
  expect(await delivered('free again')).toBe(true)
})

test('mail is plain text through SMTP, proven by a code; a server that refuses or hangs is a failure', async () => {
  const deps = engine()
  const endpoint = await addEndpoint(deps, wallet, 'email', 'reader@mail.test')
  await sendChallenges(deps)
  const code = /Code: (\w{16})/.exec(smtp.mails.at(-1) ?? '')?.[1] ?? ''
  expect(await proveEndpoint(deps, wallet, endpoint, code)).toBe('active')
  await addWatch(deps, wallet, { endpoint, topic: topic.name, subject: 's' })
  await publish(deps, 'line\r\nBcc: other@mail.test')
  await round(deps)
  const mail = smtp.mails.at(-1) ?? ''
  expect(mail).toMatch(/^Subject: s: line Bcc: other@mail\.test$/m)
  expect(mail.split('\n\n')[0]).not.toMatch(/^Bcc:/m)
  smtp.behave('refuses')
  await publish(deps, 'refused')
  await round(deps)
  expect(await endpointRow(endpoint)).toMatchObject({ state: 'active', last_status: 'smtp 550' })
})

test('everything that is kept has an end', async () => {
  const deps = engine()
  await watched(deps)
  await publish(deps, 'old')
  await round(deps)
  const endpoint = await addEndpoint(deps, wallet, 'email', 'never@mail.test')
  nowMs += 15 * 86_400_000
  await forgetOld(db.database, nowMs)
  expect(await endpointRow(endpoint)).toBeUndefined()
  expect(await states()).toEqual([])
  nowMs += 90 * 86_400_000
  await forgetOld(db.database, nowMs)
  expect(await deps.events.recent(topic.name, { limit: 10 })).toEqual([])
})
