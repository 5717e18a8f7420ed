import { activeBonds } from '@assay/till/credit/bonds'
import { matchMigrations } from '../match/index.ts'
import { demandIndex, marketParties, peerReader, relatedParties, streamProduct } from '../ports.ts'
import { declareShop, type OpenShop } from '../shop.ts'
import {
  parseSubscriptionPolicy,
  streamSubscribers,
  subscriptionsMigrations,
  subscriptionsVariables,
} from '../subscriptions/index.ts'
import { type IntentOptions, openIntents } from './open-intents.ts'
import { intentsRetention } from './retention.ts'
import { intentsVariables, parseIntentSettings } from './settings.ts'

export const intentsShop = declareShop({
  name: 'intents',
  variables: { ...intentsVariables, ...subscriptionsVariables },
  migrations: [...matchMigrations, subscriptionsMigrations, new URL('./migrations/', import.meta.url)],
  retention: intentsRetention,
  configure: ({ INTENTS, NATS_URL, SUBSCRIPTIONS }, { demo }) =>
    openIntentsShop({
      settings: parseIntentSettings(INTENTS, demo),
      subscriptions: parseSubscriptionPolicy(SUBSCRIPTIONS),
      natsUrl: NATS_URL,
    }),
})

/** Area C: what agents look for, as a stream. */
export function openIntentsShop(options: Omit<IntentOptions, 'walletFacts' | 'peers'>): OpenShop {
  return async (context) => {
    const { shop, demand, bondMs, spendMicro, unavailable } = await openIntents(context, {
      ...options,
      walletFacts: {
        fundingClusters: async (sql, wallets) =>
          (await context.ports.find(relatedParties)?.(sql, wallets)) ?? new Map(),
        activeBonds,
        interested: async (sql, span) => [
          ...(await streamSubscribers(sql, span.startsAtMs)),
          ...((await context.ports.find(marketParties)?.(sql, span)) ?? []),
        ],
      },
      peers: () => ({ read: async (did, path) => context.ports.find(peerReader)?.read(did, path) }),
    })
    context.ports.offer(demandIndex, { demand, bondMs, spendMicro })
    context.ports.offer(streamProduct, { unavailable })
    return shop
  }
}
