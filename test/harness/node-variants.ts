import type { NodeOptions } from '../../packages/node/src/node.ts'
import { openFeedShop } from './feed-shop.ts'
import { openSteadyExchange } from './steady-exchange.ts'
import { createTestShop } from './test-shop.ts'

export type NodeVariant = 'till' | 'shops' | 'exchange' | 'stream'

/** The intent stream with what it counts, and the mesh. */
export const streamShops = [
  'account',
  'sandbox',
  'subscriptions',
  'mesh',
  'log',
  'sources',
  'attestations',
  'identity',
  'match',
  'intents',
]

/** What a process sells, by the name it is given: a test shop, all of the node's shops, the exchange on made-up demand, or the stream. */
export function openVariant(variant: NodeVariant): Required<Pick<NodeOptions, 'ownShops' | 'shops'>> {
  if (variant === 'exchange') return { ownShops: 'till', shops: [openSteadyExchange(3_600)] }
  if (variant === 'stream') return { ownShops: streamShops, shops: [] }
  if (variant === 'till') return { ownShops: 'till', shops: [createTestShop().open] }
  return { ownShops: 'all', shops: [createTestShop().open, openFeedShop] }
}
