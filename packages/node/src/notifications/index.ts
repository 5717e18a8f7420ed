import { loadSharedSecret } from '@assay/till/proofs'
import { createDnsResolver, createOutbound, type Outbound, publicAddresses } from '../outbound/index.ts'
import { declareShop, type OpenShop, type ShopContext } from '../shops/shop.ts'
import type { NodeFacts } from '../shops/shop-settings.ts'
import { deliverDue, deliveryDueSql } from './deliver.ts'
import { type Kind, sendChallenges } from './endpoints.ts'
import { createNotifications, deleteOld } from './events.ts'
import { createMail } from './mail-adapter.ts'
import { readDeliveryStatus } from './operate.ts'
import { notifications } from './port.ts'
import { notificationsRetention } from './retention.ts'
import { notificationRoutes } from './routes.ts'
import { type NotificationSettings, notificationsVariables, parseNotificationSettings } from './settings.ts'
import { targetOf } from './targets.ts'
import { createWebhook } from './webhook.ts'

export { readDeliveryStatus } from './operate.ts'
export { type Notifications, notifications } from './port.ts'

export const notificationsShop = declareShop({
  name: 'notifications',
  variables: notificationsVariables,
  migrations: [new URL('./migrations/', import.meta.url)],
  retention: notificationsRetention,
  configure: ({ NOTIFICATIONS, SMTP_URL }, facts) =>
    openNotifications({
      settings: parseNotificationSettings(NOTIFICATIONS, SMTP_URL),
      outbound: (context) => openOutbound(context, facts),
    }),
})

export type NotificationOptions = { settings: NotificationSettings; outbound(context: ShopContext): Outbound }

/** How every shop tells wallets of what happened: events in, signed deliveries out. */
export function openNotifications({ settings, outbound }: NotificationOptions): OpenShop {
  return async (context) => {
    const { database, clock, log, metrics, jws, keyring, baseUrl, ports, rng } = context
    const demo = context.mode === 'demo'
    const topics = new Map(context.topics.map((topic) => [topic.name, topic]))
    if (topics.size < context.topics.length) throw new Error('two shops declare the same topic')
    const events = createNotifications({ database, clock }, topics)
    ports.offer(notifications, events)
    const secret = await loadSharedSecret(database, 'notifications', rng)
    const mail = settings.mail && createMail({ ...settings.mail, clock, log, metrics, nodeUrl: baseUrl })
    const channels = {
      webhook: createWebhook({ outbound: outbound(context), keyring, clock, plainHttp: demo }),
      email: mail,
    }
    const engine = { database, clock, log, metrics, jws, baseUrl, channels, secret }
    const kinds = new Set<Kind>(mail ? ['webhook', 'email'] : ['webhook'])
    const deps = { ...context, settings, events, topics, secret, kinds }
    const stopping = new AbortController()
    const deliver = (lost?: AbortSignal) =>
      deliverDue(engine, AbortSignal.any([stopping.signal, ...(lost === undefined ? [] : [lost])]))
    return {
      routes: notificationRoutes({
        ...deps,
        networks: [context.base.caip2],
        targetOf: (kind, text) => targetOf(kind, text, demo),
      }),
      jobs: [
        { name: 'notifications.deliver', intervalMs: 1_000, work: deliver, due: deliveryDueSql },
        // Apart from deliveries, which wait for nobody who has not proven anything yet.
        {
          name: 'notifications.challenge',
          intervalMs: 2_000,
          work: () => sendChallenges(engine),
          due: 'exists (select from notification_endpoint where challenge_due)',
        },
        { name: 'notifications.measure', intervalMs: 30_000, work: () => measure(context) },
        { name: 'notifications.expire', intervalMs: 3_600_000, work: () => deleteOld(database, clock.nowMs()) },
      ],
      stop: async () => stopping.abort(),
    }
  }
}

async function measure({ database, clock, metrics }: ShopContext): Promise<void> {
  const nowMs = clock.nowMs()
  for (const { kind, waiting, oldest_due_at } of (await readDeliveryStatus(database, nowMs)).deliveries) {
    metrics.gauge('notifications_waiting', Number(waiting), { kind })
    metrics.gauge('notifications_late_seconds', (nowMs - (oldest_due_at?.getTime() ?? nowMs)) / 1000, { kind })
  }
}

function openOutbound(context: ShopContext, facts: NodeFacts): Outbound {
  const { clock, rng, log, metrics, mode, baseUrl, apiUrl } = context
  return createOutbound({
    resolvers: facts.dnsServers.map((server) => createDnsResolver({ server, clock, rng })),
    clock,
    log,
    metrics,
    userAgent: `AssayNotifications/1.0 (+${baseUrl}; ${facts.contactEmail})`,
    ownHosts: [baseUrl, apiUrl].map((url) => new URL(url).hostname),
    ownAddresses: publicAddresses(),
    mode,
    ...(mode === 'demo' ? { loopbackHosts: facts.demoHosts } : {}),
  })
}
