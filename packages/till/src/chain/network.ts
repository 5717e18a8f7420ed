import type { Address } from '@assay/protocol/address'
import { type AssetId, chainOfAsset, erc20Asset } from '@assay/protocol/asset'
import { base, baseSepolia, polygon, polygonAmoy, type UsdcAsset } from '@assay/protocol/networks'

/** Everything the till knows about a chain it takes money on. */
export type Network = {
  /**
   * CAIP-2, such as `eip155:8453`. Of a further dollar (see `withDollars`) its CAIP-19 id: all that is counted is kept under
   * it, so that no two assets are mixed. `chainOfAsset` gives the chain.
   */
  caip2: string
  chainId: number
  /** The word the interface uses: base, polygon. */
  name: string
  testnet: boolean
  /** What is paid here: the USDC of the chain, or a further dollar. */
  usdc: UsdcAsset
  /** Dollars with 6 decimals that the operator takes beside USDC, on routes that name them. */
  dollars?: readonly UsdcAsset[]
  /** What the demo chain or the real one needs at least as priority fee, in wei. */
  priorityFeeWeiMin: bigint
  /** Above these nothing is offered, whatever an endpoint suggests: a person decides about such a market. */
  priorityFeeWeiMax: bigint
  maxFeeWeiMax: bigint
  /** Gas that one transaction may use at most: EIP-7825, or what the block producers take. */
  transactionGasMax: bigint
  /** USD per coin of the chain, estimated high: it bounds what a transaction may cost, and is no quote. */
  nativeUsdMax: bigint
  /** Gas, in gwei of its coin, that failed settlements of a route may cost in a day. */
  lostGasGweiPerDay: bigint
  blockSecondsTypical: number
  multicall3: Address
}

/** The dollar of a network by its CAIP-19 id. */
export const usdcOf = ({ caip2, usdc }: Pick<Network, 'caip2' | 'usdc'>): AssetId =>
  erc20Asset(chainOfAsset(caip2), usdc.address)

/** Each network, and after it its further dollars, each as a network with that asset. */
export const withDollars = (networks: readonly Network[]): Network[] =>
  networks.flatMap(({ dollars = [], ...network }) => [
    network,
    ...dollars.map((usdc) => ({ ...network, caip2: erc20Asset(network.caip2, usdc.address), usdc })),
  ])

/** With the name and version of its EIP-712 domain it is paid by EIP-3009, without them by Permit2 only. */
export const furtherDollar = ({ address, symbol, name, version }: DollarFacts): UsdcAsset => ({
  ...{ address, symbol, name: name ?? '', version: version ?? '', decimals: 6 },
  ...(name === undefined && version === undefined ? { eip3009: false } : {}),
})

type DollarFacts = { address: Address; symbol: string; name?: string | undefined; version?: string | undefined }

/** What is wrong with the further dollars of a network; nothing of it needs the chain. */
export function dollarProblems({ usdc, dollars = [] }: Pick<Network, 'usdc' | 'dollars'>): string[] {
  const all = [usdc, ...dollars]
  return dollars.flatMap(({ address, symbol, name, version, eip3009 }, index) => [
    ...(all.slice(0, index + 1).some((one) => one.address === address) ? [`${address} is named twice`] : []),
    ...(/^[A-Za-z][A-Za-z0-9.]{0,11}$/.test(symbol ?? '') ? [] : [`${address} needs a symbol of up to 12 letters`]),
    ...(all.slice(0, index + 1).some((one) => (one.symbol ?? 'USDC') === symbol)
      ? [`two assets are called ${symbol}`]
      : []),
    ...(eip3009 === undefined && (name === '' || version === '')
      ? [`${address} needs its EIP-712 name and version`]
      : []),
  ])
}

export const multicall3Address: Address = '0xca11bde05977b3631167028862be2a173976ca11'

const onBase = {
  priorityFeeWeiMin: 1_000_000n,
  priorityFeeWeiMax: 2_000_000_000n,
  maxFeeWeiMax: 20_000_000_000n,
  transactionGasMax: 16_777_216n,
  nativeUsdMax: 10_000n,
  lostGasGweiPerDay: 50_000_000n,
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
  lostGasGweiPerDay: 50_000_000_000n,
}

/** The networks that Assay supports. Demo chains have the ids of the main networks and their own assets. */
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
    // Worth the same as on Base.
    lostGasGweiPerDay: (onBase.lostGasGweiPerDay * onBase.nativeUsdMax) / (facts.nativeUsdMax ?? onBase.nativeUsdMax),
    ...facts,
    caip2: `eip155:${facts.chainId}`,
  }
}
