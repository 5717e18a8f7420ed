import type { NodeOptions } from '../../packages/node/src/node.ts'
import { accountShop } from '../../packages/node/src/shops/account/index.ts'
import { sandboxShop } from '../../packages/node/src/shops/sandbox/index.ts'
import type { ShopDeclaration } from '../../packages/node/src/shops/shop.ts'
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

/** What a process sells, by the name it is given: a test shop, the node's shops with feeds of the test, the exchange on made-up demand, or the stream. */
export async function openVariant(variant: NodeVariant): Promise<Required<Pick<NodeOptions, 'ownShops' | 'shops'>>> {
  const test = createTestShop().open
  if (variant === 'till') return { ownShops: 'till', shops: [test] }
  if (variant === 'stream') return { ownShops: streamShops, shops: [] }
  if (variant === 'exchange') {
    const { openSteadyExchange } = await import('./steady-exchange.ts')
    return { ownShops: 'till', shops: [openSteadyExchange(3_600)] }
  }
  const { openFeedShop } = await import('./feed-shop.ts')
  // Subscriptions are for sale while there are feeds: those of the test always are, those of the market only once they are filled.
  const ownShops = (await listOf(variant)).map(({ name }) => name).filter((name) => name !== 'matrix')
  return { ownShops, shops: [test, openFeedShop] }
}

/** The shops of a node of this variant: to load those that it does not open takes longer than to start it. */
export async function listOf(variant: NodeVariant): Promise<readonly ShopDeclaration[]> {
  if (variant === 'till') return [accountShop, sandboxShop]
  const { shopList } = await import('../../packages/node/src/shop-list.ts')
  return shopList
}
