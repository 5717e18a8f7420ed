import type { OpenShop } from '../../packages/node/src/http/index.ts'
import { openSteadyExchange } from '../support/steady-exchange.ts'
import { createTestShop } from '../support/test-shop.ts'

export type House = 'shops' | 'exchange'

/** What a process sells, by the name it is told: all of the node's own shops, or the exchange on made-up demand. */
export const housesOf: Record<House, { ownShops: 'all' | 'till'; shops: () => OpenShop[] }> = {
  shops: { ownShops: 'all', shops: () => [createTestShop().open] },
  exchange: { ownShops: 'till', shops: () => [openSteadyExchange(3_600)] },
}
