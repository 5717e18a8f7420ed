import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Address } from '@assay/protocol/address'
import { createJwsPort } from '@assay/till/compose'
import { type Clock, systemClock } from '@assay/till/kernel/clock'
import { createIds } from '@assay/till/kernel/ids'
import { silentLog } from '@assay/till/kernel/log'
import { type Metrics, silentMetrics } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import { createFixedKeyring, generateSigningKey } from '@assay/till/signing'
import { openTestDatabase } from '@assay/till/store/testing'
import { listenHttp, outboundFor, tableResolver } from '../outbound/outbound.fixture.ts'
import type { Topic } from '../shops/topic.ts'
import { deliverDue } from './deliver.ts'
import { addEndpoint, codeOf, proveEndpoint, sendChallenges } from './endpoints.ts'
import { createNotifications } from './events.ts'
import { createMail } from './mail-adapter.ts'
import { parseNotificationSettings } from './settings.ts'
import { startSmtpServer } from './smtp-server.fixture.ts'
import { addWatch } from './watches.ts'
import { createWebhook } from './webhook.ts'

export type Got = { headers: IncomingHttpHeaders; path: string; body: string }

export const topic: Topic = {
  ...{ name: 'test.topic', title: 'Test', subjects: 'any text', example: 'text', isPublic: true },
  subjectOf: (text) => text,
}
export const wallet = `0x${'1'.repeat(40)}` as Address
export const target = 'http://hook.test/in?x=1'
const secret = Buffer.alloc(32, 7)

const echo = ({ body }: Got, response: ServerResponse): unknown => response.end(body)

const listenHook = (world: { got: Got[]; answer: typeof echo }) =>
  listenHttp((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const seen = { headers: request.headers, path: request.url ?? '', body }
      world.got.push(seen)
      world.answer(seen, response)
    })
  })

export type Delivery = Awaited<ReturnType<typeof openDelivery>>

/** The deliverer with a database, a webhook and a mail server that do what a test wants. */
export async function openDelivery() {
  const [db, smtp] = await Promise.all([openTestDatabase(), startSmtpServer()])
  const key = generateSigningKey(systemRng)
  const keyring = createFixedKeyring(key, 0)
  const alarms: string[] = []
  const metrics: Metrics = {
    ...silentMetrics,
    count: (_, labels) => void (labels?.['alarm'] && alarms.push(labels['alarm'])),
  }
  const world = { nowMs: 1_794_000_000_000, got: [] as Got[], answer: echo, alarms }
  const clock: Clock = { ...systemClock, nowMs: () => world.nowMs }
  const hook = await listenHook(world)
  const { database } = db
  const outbound = outboundFor({
    resolvers: [tableResolver({ 'inside.com': ['10.0.0.8'] })],
    loopbackHosts: new Map([['hook.test', { address: '127.0.0.1', port: hook.port }]]),
  })
  const node = { clock, log: silentLog, metrics, nodeUrl: 'https://node.test' }
  const deps = {
    database,
    clock,
    log: silentLog,
    metrics,
    jws: createJwsPort(keyring, ['node.test'], clock),
    baseUrl: node.nodeUrl,
    channels: {
      webhook: createWebhook({ outbound, keyring, clock, plainHttp: true }),
      email: createMail({ url: smtp.url, from: 'node@node.test', totalMs: 2_000, ...node }),
    },
    secret,
    settings: parseNotificationSettings({ free_watches: 2, mail_from: 'node@node.test' }, 'smtp://x'),
    ids: createIds(clock, systemRng),
    events: createNotifications({ database, clock }, new Map([[topic.name, topic]])),
  }
  const watch = (endpoint: string, subject: string, owner = wallet) =>
    addWatch(deps, owner, { endpoint, topic: topic.name, subject })
  return {
    ...{ db, smtp, key, deps, world, watch },
    /** A proven webhook that watches a subject. */
    watched: async (where = target, subject = 's', owner = wallet) => {
      const endpoint = await addEndpoint(deps, owner, 'webhook', where)
      await sendChallenges(deps)
      await watch(endpoint, subject, owner)
      world.got = []
      return endpoint
    },
    /** A proven mail address that watches a subject. */
    mailed: async (where: string, subject = 's', owner = wallet) => {
      const endpoint = await addEndpoint(deps, owner, 'email', where)
      await sendChallenges(deps)
      await proveEndpoint(deps, owner, endpoint, codeOf(secret, endpoint, 1))
      await watch(endpoint, subject, owner)
      return endpoint
    },
    publish: (key: string, subject = 's') =>
      database.transaction((tx) => deps.events.publish(tx, topic.name, [{ subject, key, payload: { text: key } }])),
    round: (signal?: AbortSignal) => deliverDue(deps, signal),
    endpointRow: async (id: string) =>
      (await database.query('select state, reason, last_status from notification_endpoint where id = $1', [id]))
        .rows[0],
    deliveries: async (endpoint?: string) =>
      (
        await database.query<{ state: string; attempts: number; last_status: string | null }>(
          `select state, attempts, last_status from notification_delivery
           where $1::text is null or endpoint = $1 order by id`,
          [endpoint ?? null],
        )
      ).rows,
    reset: async () => {
      world.got = []
      world.answer = echo
      world.alarms.length = 0
      smtp.behave('takes')
      smtp.mails.length = 0
      for (const table of ['event', 'endpoint', 'challenge', 'plan', 'plan_sale'])
        await db.owner.query(`delete from notification_${table}`)
    },
    close: async () => {
      await Promise.all([db.close(), hook.close(), smtp.close()])
    },
  }
}
