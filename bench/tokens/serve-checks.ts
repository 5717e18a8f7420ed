// The token shop alone behind the real HTTP app, with its chain in the same process: what one process of a node does
// for free checks. Tells its parent where it listens and which tokens there are.

import { openListener } from '../../packages/node/src/http/index.ts'
import { openTokensShop } from '../../packages/node/src/shops/tokens/index.ts'
import { createActor } from '../../packages/node/src/shops/tokens/issuer.fixture.ts'
import { endpointOf } from '../../packages/node/src/shops/tokens/reader.fixture.ts'
import { startTokenChain } from '../../packages/node/src/shops/tokens/token-chain.fixture.ts'
import { type ChainPort, createRpc, RpcRefusal } from '../../packages/till/src/chain/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import type { Database } from '../../packages/till/src/store/database.ts'
import { base, openAlone } from '../sides/open-alone.ts'
import { serveShop } from '../sides/serve-shop.ts'

const tokensWanted = 50
const devnet = await startTokenChain()
const endpoint = endpointOf(devnet)
const listener = await openListener({ port: 0, host: '127.0.0.1', log: silentLog })
const { hash } = (await devnet.request('eth_getBlockByNumber', ['0x0', false])) as { hash: `0x${string}` }
const absent = () => Promise.reject(new RpcRefusal(-32000, 'no database here'))
const { shop, keyring } = await openAlone(listener, openTokensShop(), {
  database: { query: absent, transaction: absent } as unknown as Database,
  chains: new Map([[base.caip2, { blockHash: async () => hash } as unknown as ChainPort]]),
  rpcs: new Map([[base.caip2, createRpc([endpoint], { clock: systemClock })]]),
  endpoints: new Map([[base.caip2, [endpoint]]]),
})
const { tokens } = (shop.demo?.() ?? { tokens: [] }) as { tokens: { address: string }[] }
const addresses = tokens.map(({ address }) => address)
const issuer = await createActor(devnet)
while (addresses.length < tokensWanted) addresses.push(await issuer.create(`bench ${addresses.length}`))
await serveShop(listener, shop.routes, keyring)
process.send?.({ url: listener.url, addresses })
