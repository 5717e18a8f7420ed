import { type Address, parseAddress } from './address.ts'

/** CAIP-19: what money is counted in, on which chain, such as `eip155:8453/erc20:0x8335…`. */
export type AssetId = `${string}:${string}/${string}:${string}`

/** `network` is CAIP-2. The reference of an ERC-20 is the address of its contract, in lower case. */
export type AssetParts = { network: string; namespace: string; reference: string }

const assetPattern = /^([-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32})\/([-a-z0-9]{3,8}):([-.%a-zA-Z0-9]{1,128})$/

export function parseAssetId(text: unknown): AssetParts | undefined {
  const [, network, namespace, given] = (typeof text === 'string' && assetPattern.exec(text)) || []
  if (network === undefined || namespace === undefined || given === undefined) return undefined
  const reference = namespace === 'erc20' ? parseAddress(given) : given
  return reference === undefined ? undefined : { network, namespace, reference }
}

export const formatAssetId = ({ network, namespace, reference }: AssetParts): AssetId =>
  `${network}/${namespace}:${reference}` as AssetId

export const erc20Asset = (network: string, token: Address): AssetId =>
  formatAssetId({ network, namespace: 'erc20', reference: token })

/** The chain that an amount is on, given the chain itself (its USDC) or the CAIP-19 id of another asset there. */
export const chainOfAsset = (key: string): string => key.split('/', 1)[0] as string
