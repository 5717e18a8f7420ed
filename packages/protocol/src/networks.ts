import type { Address } from './address.ts'

/** EIP-712 domain values of the asset: USD Coin on the main networks, USDC on the test networks. */
export type UsdcAsset = {
  address: Address
  name: string
  version: string
  decimals: 6
  /** What people call it. Absent: USDC. */
  symbol?: string
  /** False: it has no `transferWithAuthorization`, and is paid by Permit2 only. */
  eip3009?: false
}

/** A chain and the USDC on it, as buyers and sellers must agree on it. */
export type ChainFacts = {
  /** CAIP-2, such as `eip155:8453`. */
  caip2: `eip155:${number}`
  chainId: number
  /** The word the interface uses: base, polygon. */
  name: string
  testnet: boolean
  usdc: UsdcAsset
}

const chain = (chainId: number, name: string, address: Address, testnet = false): ChainFacts => ({
  caip2: `eip155:${chainId}`,
  chainId,
  name,
  testnet,
  usdc: { address, name: testnet ? 'USDC' : 'USD Coin', version: '2', decimals: 6 },
})

export const base = chain(8453, 'base', '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913')
export const polygon = chain(137, 'polygon', '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359')
export const baseSepolia = chain(84532, 'base-sepolia', '0x036cbd53842c5426634e7929541ec2318f3dcf7e', true)
export const polygonAmoy = chain(80002, 'polygon-amoy', '0x41e94eb019c0762f9bfcf9fb1e58725bfb0e7582', true)

/** The chains whose USDC this software knows itself. On any other, buyer and seller name the asset. */
export const knownChains: readonly ChainFacts[] = [base, polygon, baseSepolia, polygonAmoy]
