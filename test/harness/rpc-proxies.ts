import { type RpcProxy, startRpcProxy } from '../../packages/till/src/chain/rpc-proxy.fixture.ts'
import type { Devnet } from '../../packages/till/src/devnet/index.ts'

export type RpcProxies = { base: RpcProxy[]; polygon: RpcProxy[]; env: Record<string, string>; close(): Promise<void> }

/** Three providers in front of each embedded chain, at their own hosts. */
export async function openRpcProxies(base: Devnet, polygon: Devnet): Promise<RpcProxies> {
  const infront = (devnet: Devnet) =>
    Promise.all(
      ['127.0.0.1', '127.0.0.2', '127.0.0.3'].map((host) =>
        startRpcProxy((method, params) => devnet.request(method, params), host),
      ),
    )
  const proxies = { base: await infront(base), polygon: await infront(polygon) }
  const urls = (list: readonly RpcProxy[]) => list.map(({ url }) => url).join(',')
  return {
    ...proxies,
    env: { BASE_RPC_URLS: urls(proxies.base), POLYGON_RPC_URLS: urls(proxies.polygon) },
    close: async () => {
      await Promise.all([...proxies.base, ...proxies.polygon].map((proxy) => proxy.close()))
    },
  }
}
