/** USDC on one network, as this client knows it. What a seller says about the asset is compared, never believed. */
export type PayableNetwork = {
  /** CAIP-2. */
  network: `eip155:${number}`
  usdc: `0x${string}`
  /** EIP-712 domain of the asset. */
  name: string
  version: string
}

const row = (chainId: number, usdc: `0x${string}`, name: string): PayableNetwork => ({
  network: `eip155:${chainId}`,
  usdc,
  name,
  version: '2',
})

export const baseNetwork = row(8453, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'USD Coin')
export const polygonNetwork = row(137, '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'USD Coin')
export const baseSepoliaNetwork = row(84532, '0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'USDC')
export const polygonAmoyNetwork = row(80002, '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582', 'USDC')

export function chainIdOf(network: PayableNetwork): number {
  return Number(network.network.slice('eip155:'.length))
}
