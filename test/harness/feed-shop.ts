import { z } from 'zod'
import { jsonAnswer, type RouteDeclaration } from '../../packages/node/src/http/index.ts'
import { coveredFeeds } from '../../packages/node/src/shops/ports.ts'
import type { OpenShop } from '../../packages/node/src/shops/shop.ts'

/** Replaces the feeds: routes of both tiers under ids that subscriptions cover, and one that gives money on. */
export const openFeedShop: OpenShop = (context) => {
  const pull = (tier: 'live' | 'vip', micro: bigint): RouteDeclaration => ({
    id: `matrix.test.${tier}`,
    area: 'B',
    method: 'GET',
    path: `/test/feed/${tier}`,
    summary: `A test feed, ${tier}`,
    query: z.strictObject({ n: z.string().optional() }),
    output: z.strictObject({ tier: z.string(), reader: z.string(), n: z.string().nullable() }),
    example: { output: { tier, reader: '0x', n: null } },
    next: '/',
    access: {
      kind: 'paid',
      price: { kind: 'fixed', micro },
      networks: [context.base.caip2],
      payee: 'pay_to',
      revocable: false,
      prepare: async (input, call) => ({ answer: jsonAnswer({ tier, reader: call.payer, n: input.query.n ?? null }) }),
    },
  })
  if (!context.ports.find(coveredFeeds))
    context.ports.offer(coveredFeeds, {
      unavailable: () => undefined,
      feeds: () => [],
      parts: () => ({ down: 0, of: 2 }),
    })
  return { routes: [pull('live', 50_000n), pull('vip', 250_000n)] }
}
