import {
  type Chain,
  createWalletClient,
  defineChain,
  type HttpTransport,
  http,
  type LocalAccount,
  type PublicActions,
  publicActions,
  type WalletClient,
} from 'viem'

export type OpenWallet = WalletClient<HttpTransport, Chain, LocalAccount> &
  PublicActions<HttpTransport, Chain, LocalAccount>

/** Reads a chain and sends to it as the account, both by one endpoint. */
export function openWallet(rpc: string, network: string, account: LocalAccount): OpenWallet {
  const chain = defineChain({
    id: Number(network.slice('eip155:'.length)),
    name: network,
    nativeCurrency: { name: 'gas', symbol: 'GAS', decimals: 18 },
    rpcUrls: { default: { http: [rpc] } },
  })
  return createWalletClient({ account, chain, transport: http(rpc), cacheTime: 0 }).extend(publicActions)
}
