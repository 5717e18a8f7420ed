/** What `GET /` says of the node, as far as the console shows it. */
export type NodeIndex = {
  service: string
  version: string
  description: string
  base_url: string
  api_url: string
  networks: {
    network: string
    name: string
    testnet: boolean
    asset: string
    asset_name: string
    asset_version: string
  }[]
  sold: SoldItem[]
  free: { method: string; path: string; summary: string }[]
  keys: { key_id: string; public_key: string }
  contact: string
  demo?: DemoObject
}

export type SoldItem = {
  id: string
  method: string
  path: string
  url: string
  summary: string
  price_usd: string
  price_usd_max?: string
  networks: string[]
}

export type DemoObject = {
  accounts: { role: string; address: string; private_key: string }[]
  chains: { network: string; rpc: string | null; usdc: string }[]
  tokens: { key?: string; address: string; what: string }[]
  sources: { domain: string; url: string }[]
  matrix?: { feeds?: string[]; loading?: { state: string; files?: number; of?: number } }
}

export const networkName = (index: Pick<NodeIndex, 'networks'>, network: string): string => {
  const name = index.networks.find((known) => known.network === network)?.name
  return name === undefined ? network : name.charAt(0).toUpperCase() + name.slice(1)
}

const explorers: Record<string, string> = {
  'eip155:8453': 'https://basescan.org',
  'eip155:84532': 'https://sepolia.basescan.org',
  'eip155:137': 'https://polygonscan.com',
  'eip155:80002': 'https://amoy.polygonscan.com',
}

/** A page about it elsewhere. The chains of a demo node have the ids of real ones and are known to nobody. */
export function explorerUrl(
  index: Pick<NodeIndex, 'demo'>,
  network: string,
  what: 'tx' | 'address',
  value: string,
): string | undefined {
  const site = explorers[network]
  return index.demo !== undefined || site === undefined ? undefined : `${site}/${what}/${value}`
}

/** Whether this node has a route at all: shops can be left out of a node. */
export function offers(index: NodeIndex, path: string): boolean {
  return [...index.sold, ...index.free].some((route) => route.path === path)
}
