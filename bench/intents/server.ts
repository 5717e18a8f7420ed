import { mkdir } from 'node:fs/promises'
import { startNode } from '../../packages/node/src/node.ts'
import { parseConfig } from '../../packages/node/src/shop-list.ts'
import { fundingClusters } from '../../packages/node/src/shops/attestations/index.ts'
import { createIntentDeps } from '../../packages/node/src/shops/intents/index.ts'
import { parseIntentSettings } from '../../packages/node/src/shops/intents/settings.ts'
import { newestSeq, publishEvents } from '../../packages/node/src/shops/intents/store.ts'
import { tickEvent } from '../../packages/node/src/shops/intents/tick-event.ts'
import type { OpenShop } from '../../packages/node/src/shops/shop.ts'
import { openStreamSubscriptions, parseSubscriptionPolicy } from '../../packages/node/src/shops/subscriptions/index.ts'
import { activeBonds } from '../../packages/till/src/credit/bonds/index.ts'
import { answerCommands, cpuMicros } from '../process/commands.ts'

const home = process.env['ASSAY_HOME'] ?? ''
await mkdir(home, { recursive: true, mode: 0o711 })
// A bucket of a day: nothing is closed while this runs but what is published here.
const intents = { demo: 'off', connections: 20_000, bucket_seconds: 86_400 }
let token = ''
let publish = async (_count: number): Promise<number> => 0
let memoryMax = 0

/** In the place of a closing: signs and publishes ticks the way a closing does. */
const driver: OpenShop = async (context) => {
  const deps = createIntentDeps(context, {
    settings: parseIntentSettings(intents, true),
    subscriptions: parseSubscriptionPolicy(),
    walletFacts: { fundingClusters, activeBonds, interested: async () => [] },
  })
  const subscriptions = openStreamSubscriptions(context, parseSubscriptionPolicy())
  const sale = {
    paymentId: 'bench',
    routeId: 'market.intents.stream',
    network: context.base.caip2,
    payer: `0x${'ab'.repeat(20)}` as const,
    amountMicro: subscriptions.priceMicro,
    payee: 'pay_to' as const,
    attribution: {},
    reservation: null,
    provisional: false,
    transaction: '',
    settledAtMs: context.clock.nowMs(),
    feeMicro: 0n,
    round: 0,
    source: 'payment' as const,
  }
  const granted = await context.database.transaction((tx) => subscriptions.grant(tx, sale))
  token = (await subscriptions.tokenOf(granted)) ?? ''
  publish = (count) =>
    context.database.transaction(async (tx) => {
      const first = (await newestSeq(tx)) + 1
      const nowMs = context.clock.nowMs()
      const span = { startsAtMs: nowMs - 1, endsAtMs: nowMs, synthetic: true, plan: { bucketMs: 86_400_000, tiers: 3 } }
      const events = Array.from({ length: count }, (_, index) => {
        const seq = first + index
        const cell = { cluster: '414', demand: 20, bonded: 15, words: [{ word: 'stocks', demand: 12 }] }
        return { ...span, seq, ...tickEvent(deps, { seq, span, publishedAtMs: nowMs }, cell, undefined) }
      })
      await publishEvents(tx, events, nowMs)
      return first + count - 1
    })
  return { routes: [] }
}

const config = parseConfig({
  PORT: '0',
  ASSAY_HOME: home,
  DEVNET_PORTS: '0,0',
  LOG_LEVEL: 'error',
  INTENTS: JSON.stringify(intents),
})
const node = await startNode(config, {
  ownShops: ['account', 'sandbox', 'subscriptions', 'intents'],
  jobs: false,
  shops: [driver],
})
setInterval(() => {
  memoryMax = Math.max(memoryMax, process.memoryUsage().rss)
}, 250).unref()

answerCommands(
  {
    address: () => ({ url: node.address, token }),
    publish: (count: never) => publish(count as number),
    usage: () => {
      const { rss, heapUsed, external } = process.memoryUsage()
      return { memoryMax, cpuMicros: cpuMicros(), rss, heap: heapUsed + external }
    },
  },
  () => node.stop(),
)
