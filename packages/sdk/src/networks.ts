import { checksumAddress } from '@assay/protocol/address'
import { base, baseSepolia, type ChainFacts, knownChains, polygon, polygonAmoy } from '@assay/protocol/networks'

/**
 * An asset on one network that this client may pay with: USDC, or another dollar with 6 decimals that its owner names. What a
 * seller says about the asset is compared, never believed.
 */
export type PayableNetwork = {
  /** CAIP-2. */
  network: `eip155:${number}`
  /** The token. */
  usdc: `0x${string}`
  /** EIP-712 domain of the asset. Both empty: it has no EIP-3009, and is paid by Permit2 only. */
  name: string
  version: string
  /** Decimal USD: one purchase never signs for more of this asset. Default: `maxPerCallUsd` of the client. */
  maxPerCallUsd?: string
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

/** USDC where this package knows it. Any other chain can be paid on by naming its asset. */
export const knownNetworks: readonly PayableNetwork[] = knownChains.map(payable)

export function chainIdOf(network: PayableNetwork): number {
  return Number(network.network.slice('eip155:'.length))
}
