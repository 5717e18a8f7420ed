import { createWalletClient, defineChain, http, type LocalAccount, publicActions } from 'viem'

/** Reads a chain and sends to it as the account, both by one endpoint. */
export function openWallet(rpc: string, network: string, account: LocalAccount) {
  const chain = defineChain({
    id: Number(network.slice('eip155:'.length)),
    name: network,
    nativeCurrency: { name: 'gas', symbol: 'GAS', decimals: 18 },
    rpcUrls: { default: { http: [rpc] } },
  })
  return createWalletClient({ account, chain, transport: http(rpc), cacheTime: 0 }).extend(publicActions)
}

export type OpenWallet = ReturnType<typeof openWallet>
