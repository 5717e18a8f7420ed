import { z } from 'zod'
import { openLogFace } from '../../packages/node/src/faces/tlog/open-log-face.ts'
import type { RouteDeclaration } from '../../packages/node/src/http/index.ts'
import {
  fundingClusters,
  openAttestationsShop,
  parseMarketSettings,
} from '../../packages/node/src/shops/attestations/index.ts'
import { seedPast } from '../../packages/node/src/shops/intents/demo/seed-past.ts'
import { createIntentDeps, openIntents } from '../../packages/node/src/shops/intents/index.ts'
import { parseIntentSettings } from '../../packages/node/src/shops/intents/settings.ts'
import { coveredFeeds } from '../../packages/node/src/shops/ports.ts'
import { openRewardsShop } from '../../packages/node/src/shops/rewards/index.ts'
import type { OpenShop, Shop } from '../../packages/node/src/shops/shop.ts'
import { defaultSettings } from '../../packages/node/src/shops/sources/deps.ts'
import { sourcesPort } from '../../packages/node/src/shops/sources/index.ts'
import { sourceRoutes } from '../../packages/node/src/shops/sources/routes.ts'
import { openSubscriptionsShop, parseSubscriptionPolicy } from '../../packages/node/src/shops/subscriptions/index.ts'
import { parseLogSettings } from '../../packages/node/src/tlog/index.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { activeBonds } from '../../packages/till/src/credit/bonds/index.ts'
import { demoMover } from '../../packages/till/src/devnet/index.ts'
import { openSteadyExchange } from '../harness/steady-exchange.ts'
import { simulatedWeb, sites } from './simulated-web.ts'

/** Minutes pass in a moment here, and a series must have lived before the run is over. */
const expirySeconds = 600

/**
 * The shops whose money paths are simulated, beside one whose effects the simulation counts by itself. The exchange, the
 * citations and the stream have much to do whenever time passes, so each has its own seeds.
 */
export function simulationShops(seed: string): OpenShop[] {
  return [
    countedShop,
    openSubscriptionsShop(),
    openRewardsShop(),
    ...(has(seed, 'exchange') ? [openSteadyExchange(expirySeconds)] : []),
    ...(has(seed, 'citations') ? [logFace, sourcesShop, attestationsShop] : []),
    ...(has(seed, 'stream') ? [streamShop] : []),
  ]
}

const parts = ['exchange', 'citations', 'stream'] as const
export type Part = (typeof parts)[number]

export const has = (seed: string, part: Part): boolean => parts[Number(seed) % parts.length] === part

const jobMs = 10_000

/** Jobs that look at the chain every second or two would be all that a run does. */
const withSlowJobs = (shop: Shop): Shop => ({
  ...shop,
  jobs: (shop.jobs ?? []).map((job) => ({ ...job, intervalMs: Math.max(job.intervalMs, jobMs) })),
})

const openWithSlowJobs =
  (open: OpenShop): OpenShop =>
  async (context) =>
    withSlowJobs(await open(context))

const logFace = openWithSlowJobs(openLogFace({ settings: parseLogSettings({ anchor_minutes: 30 }, true) }))

/** Pages come from a web of the simulation's own. */
const sourcesShop: OpenShop = (context) => {
  const { database, clock, rng, ids, log, metrics, proofs, jws, apiUrl, base } = context
  const sources = {
    ...{ database, clock, rng, ids, log, metrics, proofs, jws, apiUrl, base },
    outbound: simulatedWeb,
    resolvers: [],
    claimSecret: new Uint8Array(32),
    termsChanges: { count: 0 },
    domains: { ownHosts: new Set<string>(), demoHosts: new Set<string>(sites.map(({ host }) => host)) },
    settings: defaultSettings,
  }
  context.ports.offer(sourcesPort, sources)
  return { routes: sourceRoutes(sources) }
}

/** Stamps and the creators they pay. What takes weeks elsewhere ends within a run: held shares, and those that nobody claims. */
const attestationsShop = openWithSlowJobs((context) =>
  openAttestationsShop({
    settings: parseMarketSettings(
      {
        root_seconds: 15,
        root_minimum_usd: '0.001',
        threshold_usd: '0.012',
        wait_days: 0.006,
        release_days: 0,
        challenge_days: 0.002,
        funding_days: 0,
      },
      true,
    ),
    moverKey: demoMover.privateKey,
    royalty: { recipient: context.payees.pay_to[context.base.caip2] as Address, licence: 'LicenseRef-Assay-1.0' },
  })(context),
)

const streamShop: OpenShop = async (context) => {
  const options = {
    settings: parseIntentSettings({ demo: 'off', bucket_seconds: 10 }, true),
    subscriptions: parseSubscriptionPolicy(),
    walletFacts: { fundingClusters, activeBonds, interested: async () => [] },
  }
  // A stream that has said nothing yet is not for sale.
  await seedPast(createIntentDeps(context, options))
  const { shop } = await openIntents(context, options)
  return withSlowJobs(shop)
}

export const countedRoutes = [
  { id: 'simulated.small', path: '/simulated/small', micro: 1_500n, revocable: false },
  { id: 'simulated.large', path: '/simulated/large', micro: 2_000_000n, revocable: false },
  { id: 'simulated.pass', path: '/simulated/pass', micro: 3_000_000n, revocable: true },
] as const

const output = z.strictObject({ order: z.string() })

/** Each sale leaves one row, in the transaction of the sale, so that counting rows counts effects. */
const countedShop: OpenShop = (context) => {
  context.ports.offer(coveredFeeds, {
    unavailable: () => undefined,
    feeds: () => [],
    parts: () => ({ down: 0, of: 1 }),
  })
  return {
    routes: countedRoutes.map(
      ({ id, path, micro, revocable }): RouteDeclaration => ({
        id,
        area: 'core',
        method: 'GET',
        path,
        summary: `An answer for one order at ${path}`,
        query: z.strictObject({ order: z.string().max(40).default('none') }),
        output,
        example: { output: { order: 'o-1' } },
        next: '/',
        access: {
          kind: 'paid',
          price: { kind: 'fixed', micro },
          networks: [context.base.caip2],
          payee: 'pay_to',
          revocable,
          prepare: async ({ query }) => ({
            answer: {
              status: 200,
              contentType: 'application/json',
              body: JSON.stringify({ order: (query as { order: string }).order }),
            },
            reservation: { order: (query as { order: string }).order },
          }),
          commit: async (tx, sale) => {
            await tx.query('insert into simulated_effect (payment_id, round, order_id) values ($1, $2, $3)', [
              sale.paymentId,
              sale.round,
              (sale.reservation as { order: string }).order,
            ])
            return undefined
          },
          revoke: async (tx, sale) => {
            await tx.query('update simulated_effect set revoked = true where payment_id = $1 and round = $2', [
              sale.paymentId,
              sale.round,
            ])
          },
        },
      }),
    ),
  }
}
