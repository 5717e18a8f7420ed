import { createTokenMaker } from '@assay/till/signing'
import { declareShop, type OpenShop } from '../../http/index.ts'
import { createSubscriptionEntitlement } from './entitlement.ts'
import { manageRoutes } from './manage-routes.ts'
import { parseSubscriptionPolicy, type SubscriptionPolicy } from './policy.ts'
import { subscriptionsMigrations, subscriptionsVariables } from './settings.ts'
import { subscribeRoutes } from './subscribe-routes.ts'

export { listSubscriptions } from './list-subscriptions.ts'
export { parseSubscriptionPolicy, type SubscriptionPolicy, streamRouteId } from './policy.ts'
export { subscriptionsMigrations, subscriptionsVariables } from './settings.ts'
export { exampleSubscription, subscriptionSchema } from './show-subscription.ts'
export {
  openStreamSubscriptions,
  type StoredStreamSubscription,
  type StreamSubscriptions,
} from './stream-subscription.ts'

export { openSubscriptionStreams, type SubscriptionStreams } from './subscription-streams.ts'

export const subscriptionsShop = declareShop({
  name: 'subscriptions',
  variables: subscriptionsVariables,
  migrations: [subscriptionsMigrations],
  configure: ({ SUBSCRIPTIONS }) => openSubscriptionsShop({ policy: parseSubscriptionPolicy(SUBSCRIPTIONS) }),
})

/** What a wallet may use, and until when. */
export function openSubscriptionsShop({
  policy = parseSubscriptionPolicy(),
}: {
  policy?: SubscriptionPolicy
} = {}): OpenShop {
  return (context) => {
    const deps = { ...context, policy, tokens: createTokenMaker(context.rng, 'asub') }
    return {
      routes: [...subscribeRoutes(deps), ...manageRoutes(deps)],
      entitlements: [createSubscriptionEntitlement(deps)],
    }
  }
}
export { subscriptionProblems } from './problems.ts'
