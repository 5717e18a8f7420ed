import { activeBonds } from '@assay/till/credit/bonds'
import type { OpenShop, Shop, ShopContext } from '../../http/index.ts'
import { type OutboundSetup, openOptions } from '../options/index.ts'
import { fundingClusters } from '../sources/index.ts'
import { openIntents, type PeerReader } from './index.ts'

export type MarketOptions = {
  /** The JSON of `INTENTS` and of `SUBSCRIPTIONS`. */
  intents?: unknown
  subscriptions?: unknown
  natsUrl?: string | undefined
  /** How nodes of the mesh are read whose demand the operator allows beside the own. */
  peers?: (context: ShopContext) => PeerReader
  /** The JSON of `OPTIONS`, and what an eligibility hook in it is asked through. */
  options?: unknown
  outbound?: OutboundSetup
}

/** Area C: what agents look for, as a stream, and options on it. */
export function openMarketShop(options: MarketOptions = {}): OpenShop {
  return async (context) => {
    const intents = await openIntents(context, {
      settings: options.intents,
      subscriptions: options.subscriptions,
      natsUrl: options.natsUrl,
      peers: options.peers,
      standing: { fundingClusters, activeBonds },
    })
    const exchange = await openOptions(context, {
      settings: options.options,
      demand: intents.demand,
      bondMs: intents.bondMs,
      ...(options.outbound === undefined ? {} : { outbound: options.outbound }),
    })
    return exchange ? joinShops(intents.shop, exchange) : intents.shop
  }
}

function joinShops(first: Shop, second: Shop): Shop {
  return {
    ...first,
    routes: [...first.routes, ...second.routes],
    reversalHooks: [...(first.reversalHooks ?? []), ...(second.reversalHooks ?? [])],
    jobs: [...(first.jobs ?? []), ...(second.jobs ?? [])],
    stop: async () => {
      await second.stop?.()
      await first.stop?.()
    },
  }
}
