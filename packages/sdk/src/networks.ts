import { checksumAddress } from '@assay/protocol/address'
import { base, baseSepolia, type ChainFacts, polygon, polygonAmoy } from '@assay/protocol/networks'

/** USDC on one network, as this client knows it. What a seller says about the asset is compared, never believed. */
export type PayableNetwork = {
  /** CAIP-2. */
  network: `eip155:${number}`
  usdc: `0x${string}`
  /** EIP-712 domain of the asset. */
  name: string
  version: string
}

const payable = ({ caip2, usdc }: ChainFacts): PayableNetwork => ({
  network: caip2,
  usdc: checksumAddress(usdc.address),
  name: usdc.name,
  version: usdc.version,
})

export const baseNetwork = payable(base)
export const polygonNetwork = payable(polygon)
export const baseSepoliaNetwork = payable(baseSepolia)
export const polygonAmoyNetwork = payable(polygonAmoy)

export function chainIdOf(network: PayableNetwork): number {
  return Number(network.network.slice('eip155:'.length))
}
