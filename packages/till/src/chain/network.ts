import type { Address } from '@assay/protocol/address'
import { type AssetId, erc20Asset } from '@assay/protocol/asset'
import { base, baseSepolia, polygon, polygonAmoy, type UsdcAsset } from '@assay/protocol/networks'

/** Everything the till knows about a chain it takes money on. */
export type Network = {
  /** CAIP-2, such as `eip155:8453`. */
  caip2: string
  chainId: number
  /** The word the interface uses: base, polygon. */
  name: string
  testnet: boolean
  usdc: UsdcAsset
  /** What the demo chain or the real one needs at least as priority fee, in wei. */
  priorityFeeWeiMin: bigint
  /** Above these nothing is offered, whatever an endpoint suggests: a person decides about such a market. */
  priorityFeeWeiMax: bigint
  maxFeeWeiMax: bigint
  /** Gas that one transaction may use at most: EIP-7825, or what the block producers take. */
  transactionGasMax: bigint
  /** USD per coin of the chain, estimated high: it bounds what a transaction may cost, and is no quote. */
  nativeUsdMax: bigint
  blockSecondsTypical: number
  multicall3: Address
}

/** The dollar of a network, as the books name it. */
export const usdcOf = ({ caip2, usdc }: Pick<Network, 'caip2' | 'usdc'>): AssetId => erc20Asset(caip2, usdc.address)

export const multicall3Address: Address = '0xca11bde05977b3631167028862be2a173976ca11'

const onBase = {
  priorityFeeWeiMin: 1_000_000n,
  priorityFeeWeiMax: 2_000_000_000n,
  maxFeeWeiMax: 20_000_000_000n,
  transactionGasMax: 16_777_216n,
  nativeUsdMax: 10_000n,
  blockSecondsTypical: 2,
  multicall3: multicall3Address,
}

const onPolygon = {
  ...onBase,
  priorityFeeWeiMin: 30_000_000_000n,
  priorityFeeWeiMax: 600_000_000_000n,
  maxFeeWeiMax: 5_000_000_000_000n,
  transactionGasMax: 32_000_000n,
  nativeUsdMax: 3n,
}

/** The networks Assay speaks. Demo chains carry the ids of the main ones with their own assets. */
export const knownNetworks: readonly Network[] = [
  { ...base, ...onBase },
  { ...polygon, ...onPolygon },
  { ...baseSepolia, ...onBase },
  { ...polygonAmoy, ...onPolygon },
]

type NetworkFacts = Pick<Network, 'chainId' | 'name' | 'usdc'> & Partial<Network>

/** A chain that is not in the list: the facts that differ, and cautious figures for the others. */
export function defineNetwork(facts: NetworkFacts): Network {
  return {
    testnet: false,
    ...onBase,
    ...facts,
    caip2: `eip155:${facts.chainId}`,
  }
}
