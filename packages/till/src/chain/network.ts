import type { Address } from '@assay/protocol/address'

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

/** EIP-712 domain values of the asset: USD Coin on the main networks, USDC on the test networks. */
export type UsdcAsset = { address: Address; name: string; version: string; decimals: 6 }

export const multicall3Address: Address = '0xca11bde05977b3631167028862be2a173976ca11'

const usdc = (address: Address, name: string): UsdcAsset => ({ address, name, version: '2', decimals: 6 })

/** The networks Assay speaks. Demo chains carry the ids of the main ones with assets of their own. */
export const knownNetworks: readonly Network[] = [
  {
    caip2: 'eip155:8453',
    chainId: 8453,
    name: 'base',
    testnet: false,
    usdc: usdc('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', 'USD Coin'),
    priorityFeeWeiMin: 1_000_000n,
    priorityFeeWeiMax: 2_000_000_000n,
    maxFeeWeiMax: 20_000_000_000n,
    transactionGasMax: 16_777_216n,
    nativeUsdMax: 10_000n,
    blockSecondsTypical: 2,
    multicall3: multicall3Address,
  },
  {
    caip2: 'eip155:137',
    chainId: 137,
    name: 'polygon',
    testnet: false,
    usdc: usdc('0x3c499c542cef5e3811e1192ce70d8cc03d5c3359', 'USD Coin'),
    priorityFeeWeiMin: 30_000_000_000n,
    priorityFeeWeiMax: 600_000_000_000n,
    maxFeeWeiMax: 5_000_000_000_000n,
    transactionGasMax: 32_000_000n,
    nativeUsdMax: 3n,
    blockSecondsTypical: 2,
    multicall3: multicall3Address,
  },
  {
    caip2: 'eip155:84532',
    chainId: 84532,
    name: 'base-sepolia',
    testnet: true,
    usdc: usdc('0x036cbd53842c5426634e7929541ec2318f3dcf7e', 'USDC'),
    priorityFeeWeiMin: 1_000_000n,
    priorityFeeWeiMax: 2_000_000_000n,
    maxFeeWeiMax: 20_000_000_000n,
    transactionGasMax: 16_777_216n,
    nativeUsdMax: 10_000n,
    blockSecondsTypical: 2,
    multicall3: multicall3Address,
  },
  {
    caip2: 'eip155:80002',
    chainId: 80002,
    name: 'polygon-amoy',
    testnet: true,
    usdc: usdc('0x41e94eb019c0762f9bfcf9fb1e58725bfb0e7582', 'USDC'),
    priorityFeeWeiMin: 30_000_000_000n,
    priorityFeeWeiMax: 600_000_000_000n,
    maxFeeWeiMax: 5_000_000_000_000n,
    transactionGasMax: 32_000_000n,
    nativeUsdMax: 3n,
    blockSecondsTypical: 2,
    multicall3: multicall3Address,
  },
]

type NetworkFacts = Pick<Network, 'chainId' | 'name' | 'usdc'> & Partial<Network>

/** A chain that is not in the list: the facts that differ, and cautious figures for the others. */
export function defineNetwork(facts: NetworkFacts): Network {
  return {
    testnet: false,
    priorityFeeWeiMin: 1_000_000n,
    priorityFeeWeiMax: 2_000_000_000n,
    maxFeeWeiMax: 20_000_000_000n,
    transactionGasMax: 16_777_216n,
    nativeUsdMax: 10_000n,
    blockSecondsTypical: 2,
    multicall3: multicall3Address,
    ...facts,
    caip2: `eip155:${facts.chainId}`,
  }
}
