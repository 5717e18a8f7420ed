import { createTokenMaker } from '@assay/till/signing'
import type { Unavailable } from '../../http/index.ts'
import { coveredFeeds, streamProduct } from '../ports.ts'
import { declareShop, type OpenShop, type ShopContext } from '../shop.ts'
import { changeRoutes } from './change-routes.ts'
import { createSubscriptionEntitlement } from './entitlement.ts'
import { manageRoutes } from './manage-routes.ts'
import { resumeOverdue } from './pause.ts'
import { parseSubscriptionPolicy, type SubscriptionPolicy } from './policy.ts'
import { renewDue } from './renew.ts'
import { subscriptionsRetention } from './retention.ts'
import { subscriptionsMigrations, subscriptionsVariables } from './settings.ts'
import { subscribeRoutes } from './subscribe-routes.ts'

export { outageJob } from './extend-for-outages.ts'
export { parseSubscriptionPolicy, type SubscriptionPolicy, streamPath, streamRouteId } from './policy.ts'
export { subscriptionsMigrations, subscriptionsVariables } from './settings.ts'
export { exampleSubscription, subscriptionSchema } from './show-subscription.ts'
export {
  type OpenedSubscription,
  openStreamSubscriptions,
  type StoredStreamSubscription,
  type StreamSubscriptions,
  streamSubscribers,
} from './stream-subscription.ts'

export { openSubscriptionStreams, type SubscriptionStreams } from './subscription-streams.ts'

export const subscriptionsShop = declareShop({
  name: 'subscriptions',
  variables: subscriptionsVariables,
  migrations: [subscriptionsMigrations],
  retention: subscriptionsRetention,
  configure: ({ SUBSCRIPTIONS }) => openSubscriptionsShop({ policy: parseSubscriptionPolicy(SUBSCRIPTIONS) }),
})

/** What a wallet may use, and until when. */
export function openSubscriptionsShop({
  policy = parseSubscriptionPolicy(),
}: {
  policy?: SubscriptionPolicy
} = {}): OpenShop {
  return (context) => {
    const deps = {
      ...context,
      policy,
      tokens: createTokenMaker(context.rng, 'asub'),
      unavailable: withoutFeeds(context),
      streamUnavailable: withoutStream(context),
      feeds: () => context.ports.find(coveredFeeds)?.feeds() ?? [],
    }
    return {
      routes: [...subscribeRoutes(deps), ...manageRoutes(deps), ...changeRoutes(deps)],
      entitlements: [createSubscriptionEntitlement(deps)],
      jobs: [
        {
          name: 'subscriptions.renew',
          intervalMs: 60_000,
          work: async () => {
            const resumed = resumeOverdue(deps.database, deps.clock.nowMs())
            await resumed.catch(() => {})
            await renewDue(deps)
            await resumed
          },
        },
      ],
    }
  }
}
export { subscriptionProblems } from './problems.ts'

/** A subscription opens feeds: without any for sale it is not for sale either. */
function withoutFeeds({ ports, clock }: ShopContext): () => Unavailable | undefined {
  const openedMs = clock.nowMs()
  const none = { why: 'no_feed', detail: 'This node sells no feed that a subscription could open.', sinceMs: openedMs }
  return () => {
    const products = ports.find(coveredFeeds)
    return products === undefined ? none : products.unavailable()
  }
}

function withoutStream({ ports, clock }: ShopContext): () => Unavailable | undefined {
  const none = { why: 'no_stream', detail: 'This node has no stream of demand.', sinceMs: clock.nowMs() }
  return () => {
    const products = ports.find(streamProduct)
    return products === undefined ? none : products.unavailable()
  }
}
