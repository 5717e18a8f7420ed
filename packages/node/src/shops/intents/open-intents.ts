import type { Micro } from '@assay/protocol/money'
import { loadSharedSecret } from '@assay/till/proofs'
import { createSince, type Unavailable } from '../../http/index.ts'
import type { PeerReader, PublishedDemand } from '../ports.ts'
import type { Shop, ShopContext } from '../shop.ts'
import {
  openStreamSubscriptions,
  openSubscriptionStreams,
  outageJob,
  type SubscriptionPolicy,
  streamRouteId,
} from '../subscriptions/index.ts'
import { browserRoutes } from './browser-routes.ts'
import { type Carrier, postgresCarrier } from './carrier.ts'
import { createClassifier } from './classify.ts'
import { bucketDueSql, closeBuckets } from './close-bucket.ts'
import { createClusterTable } from './clusters.ts'
import { openPopulation } from './demo/population.ts'
import { seedPast } from './demo/seed-past.ts'
import type { IntentDeps, WalletFacts } from './deps.ts'
import { type Feed, openFeed } from './feed.ts'
import { freeRoutes } from './free-routes.ts'
import { readPeers } from './peers/read-peers.ts'
import { sharedRoute } from './peers/shared-route.ts'
import { bucketEpsilonMicro, ladder, type Plan, widest } from './plan.ts'
import type { IntentSettings } from './settings.ts'
import { publishedBuckets } from './store.ts'
import { streamRoute, streamUnavailable } from './stream-route.ts'
import { createStreamTickets } from './stream-ticket.ts'

export type IntentOptions = {
  settings: IntentSettings
  subscriptions: SubscriptionPolicy
  /** `NATS_URL`. */
  natsUrl?: string | undefined
  walletFacts: WalletFacts
  /** How peers of the mesh are read; without it `peers` in the settings cannot be followed. */
  peers?: ((context: ShopContext) => PeerReader) | undefined
}

export type OpenedIntents = {
  shop: Shop & { jobs: NonNullable<Shop['jobs']> }
  demand: PublishedDemand
  /** How long after a bucket the bonds that count in it stay locked. */
  bondMs: number
  /** What an agent has spent on searches, within a week, before it counts as bonded. */
  spendMicro: Micro
  /** Why the stream is not for sale. */
  unavailable(): Unavailable | undefined
}

export function createIntentDeps(context: ShopContext, options: IntentOptions): IntentDeps {
  const demo = context.mode === 'demo'
  const { settings } = options
  bucketEpsilonMicro(settings, settings.fixedPlan ?? (ladder.at(-1) as Plan))
  const clusterTable = createClusterTable(settings.clusters)
  const { database, clock, rng, log, metrics, jws, apiUrl } = context
  return {
    database,
    clock,
    rng,
    log,
    metrics,
    jws,
    apiUrl,
    demo,
    settings,
    clusterTable,
    classifier: createClassifier(clusterTable),
    walletFacts: options.walletFacts,
  }
}

/** The stream of demand: made by one process at a time, read in all of them. */
export async function openIntents(context: ShopContext, options: IntentOptions): Promise<OpenedIntents> {
  const deps = createIntentDeps(context, options)
  const { settings } = deps
  const simulated = settings.demoCallsPerSecond
  if (simulated !== undefined) await seedPast(deps)
  const carrier = await openCarrier(context, options)
  const feed = await openFeed(deps, carrier)
  const subscriptions = openStreamSubscriptions(context, options.subscriptions)
  const streams = openSubscriptionStreams(context, {
    routeId: streamRouteId,
    connections: settings.connections,
    policy: options.subscriptions,
  })
  const since = createSince(context.clock)
  const streaming = { ...deps, feed, subscriptions, streams, network: context.base.caip2, since }
  const secret = await loadSharedSecret(context.database, 'stream_tickets', context.rng)
  const unavailable = () => streamUnavailable({ feed, clock: context.clock, settings, since })
  const reader = settings.peers.length > 0 ? options.peers?.(context) : undefined
  const closeMs = Math.min(5_000, Math.max(1_000, (settings.fixedPlan ?? widest).bucketMs / 10))
  const stopping = new AbortController()
  const population = simulated === undefined ? undefined : openPopulation(deps, context, simulated)

  return {
    demand: demandOf(deps, feed),
    bondMs: settings.bondMs,
    spendMicro: settings.spendMicro,
    unavailable,
    shop: {
      routes: [
        streamRoute(streaming),
        ...browserRoutes({ ...streaming, tickets: createStreamTickets({ secret, clock: context.clock }) }),
        ...freeRoutes({ ...deps, feed, unavailable }),
        ...(settings.share ? [sharedRoute(deps)] : []),
      ],
      jobs: [
        {
          name: 'market.intents.close',
          intervalMs: closeMs,
          work: async () => {
            await closeBuckets(deps, stopping.signal)
            await carrier.announce()
          },
          due: bucketDueSql(settings.fixedPlan?.bucketMs),
        },
        outageJob(context, 'stream', () => ({ down: unavailable() ? 1 : 0, of: 1 })),
        ...(reader ? [{ name: 'market.intents.peers', intervalMs: closeMs, work: () => readPeers(deps, reader) }] : []),
        ...(population ? [population.job] : []),
      ],
      ...(population ? { onAnswered: population.onAnswered } : {}),
      stop: async () => {
        stopping.abort(new Error('the shop closes'))
        population?.stop()
        await feed.stop()
        await carrier.stop()
        await streams.stop()
      },
    },
  }
}

async function openCarrier(context: ShopContext, { natsUrl }: IntentOptions): Promise<Carrier> {
  if (natsUrl === undefined) return postgresCarrier(context.database)
  const instance = (context.keyring.keys()[0]?.keyId ?? 'node').replace(/[^A-Za-z0-9_-]/g, '').slice(0, 40)
  // Few nodes have a broker, and its client takes a tenth of a start.
  const { openNatsCarrier } = await import('./nats-carrier-adapter.ts')
  return openNatsCarrier({ url: natsUrl, instance, database: context.database, log: context.log })
}

function demandOf(deps: IntentDeps, feed: Feed): PublishedDemand {
  return {
    clusters: () => deps.clusterTable.nodes,
    buckets: (range) => publishedBuckets(deps.database, range),
    onPublished: feed.onPublished,
  }
}
