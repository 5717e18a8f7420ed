import type { NodeOptions } from '../../packages/node/src/node.ts'
import { openFeedShop } from '../harness/feed-shop.ts'
import { openSteadyExchange } from '../harness/steady-exchange.ts'
import { createTestShop } from '../harness/test-shop.ts'

export type NodeVariant = 'shops' | 'exchange'

/** What a process sells, by the name it is told: all of the node's own shops, or the exchange on made-up demand. */
export function openVariant(variant: NodeVariant): Required<Pick<NodeOptions, 'ownShops' | 'shops'>> {
  return variant === 'shops'
    ? { ownShops: 'all', shops: [createTestShop().open, openFeedShop] }
    : { ownShops: 'till', shops: [openSteadyExchange(3_600)] }
}
