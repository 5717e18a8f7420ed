import { startDemoChain } from '../../packages/node/src/compose/demo-chain.ts'
import { shopList } from '../../packages/node/src/shop-list.ts'
import type { Devnet, DevnetOptions } from '../../packages/till/src/devnet/index.ts'

/** An embedded chain as a demo node starts it, with what every shop needs on it. */
export const startChain = (options: DevnetOptions): Promise<Devnet> => startDemoChain(shopList, options)
