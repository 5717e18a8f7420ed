import { createTokenMaker } from '@assay/till/signing'
import type { OpenShop } from '../../http/index.ts'
import { createSubscriptionEntitlement } from './entitlement.ts'
import { manageRoutes } from './manage-routes.ts'
import { parseSubscriptionPolicy } from './policy.ts'
import { subscribeRoutes } from './subscribe-routes.ts'

export { listSubscriptions, type SubscriptionRow } from './list-subscriptions.ts'
export { streamRouteId } from './policy.ts'
export { exampleSubscription, subscriptionSchema } from './show-subscription.ts'
export {
  openStreamSubscriptions,
  type StoredStreamSubscription,
  type StreamSubscriptions,
} from './stream-subscription.ts'

export { openSubscriptionStreams, type SubscriptionStreams, type WatchedStream } from './subscription-streams.ts'

/** What a wallet may use, and until when. `policy` is the JSON of SUBSCRIPTIONS. */
export function openSubscriptionsShop(options: { policy?: unknown } = {}): OpenShop {
  const policy = parseSubscriptionPolicy(options.policy)
  return (context) => {
    const deps = { ...context, policy, tokens: createTokenMaker(context.rng, 'asub') }
    return {
      routes: [...subscribeRoutes(deps), ...manageRoutes(deps)],
      entitlements: [createSubscriptionEntitlement(deps)],
    }
  }
}
export { subscriptionProblems } from './problems.ts'
