import { activeBonds } from '@assay/till/credit/bonds'
import type { OpenShop } from '../../http/index.ts'
import { demandIndex, peerReader, relatedParties } from '../ports.ts'
import { type IntentOptions, openIntents } from './open-intents.ts'

/** Area C: what agents look for, as a stream. */
export function openIntentsShop(options: Omit<IntentOptions, 'standing' | 'peers'> = {}): OpenShop {
  return async (context) => {
    const { shop, demand, bondMs } = await openIntents(context, {
      ...options,
      standing: {
        fundingClusters: async (sql, wallets) =>
          (await context.ports.find(relatedParties)?.(sql, wallets)) ?? new Map(),
        activeBonds,
      },
      peers: () => ({ read: async (did, path) => context.ports.find(peerReader)?.read(did, path) }),
    })
    context.ports.offer(demandIndex, { demand, bondMs })
    return shop
  }
}
