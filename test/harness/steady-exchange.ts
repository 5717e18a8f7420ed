import { testClusters } from '../../packages/node/src/shops/options/exchange.fixture.ts'
import { openOptions, parseOptionSettings } from '../../packages/node/src/shops/options/index.ts'
import type { PublishedBucket, PublishedDemand } from '../../packages/node/src/shops/ports.ts'
import type { OpenShop } from '../../packages/node/src/shops/shop.ts'

const bucketMs = 30_000

/** Demand that follows from the time alone, so that every process sees the same. */
const steadyDemand: PublishedDemand = {
  clusters: () => testClusters,
  onPublished: () => () => {},
  buckets: async ({ cluster, fromMs, toMs }) => {
    const buckets: PublishedBucket[] = []
    for (let end = Math.ceil(fromMs / bucketMs) * bucketMs + bucketMs; end <= toMs; end += bucketMs)
      for (const { id } of testClusters)
        if (cluster === undefined || cluster === id)
          buckets.push({
            cluster: id,
            startsAtMs: end - bucketMs,
            endsAtMs: end,
            demand: 40,
            bonded: 30 + ((end / bucketMs + Number(id)) % 3),
            eventId: `steady-${end}-${id}`,
            synthetic: true,
          })
    return buckets
  },
}

/** The exchange on that demand; a series lives for so long. */
export const openSteadyExchange =
  (expirySeconds: number): OpenShop =>
  async (context) => {
    const shop = await openOptions(context, {
      settings: parseOptionSettings({ expiry_seconds: expirySeconds, agents_min: 10 }, true),
      demand: steadyDemand,
      bondMs: 86_400_000,
      spendMicro: 0n,
    })
    if (!shop) throw new Error('the exchange is off')
    return shop
  }
