import { isRecord } from './bytes.ts'
import { AssayError } from './errors.ts'
import type { Platform } from './platform.ts'

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

const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost'])

/**
 * The embedded chains of a demo node on this machine. Only there: anywhere else a seller could pass off
 * a token of value as its test asset.
 */
export async function readDemoNetworks(baseUrl: string, platform: Pick<Platform, 'fetch'>): Promise<PayableNetwork[]> {
  if (!loopbackHosts.has(new URL(baseUrl).hostname))
    throw new AssayError('host_not_allowed', { detail: 'Demo networks are read from this machine only.' })
  const response = await platform.fetch(new Request(new URL('/', baseUrl), { headers: { accept: 'application/json' } }))
  const index: unknown = await response.json()
  const chains = isRecord(index) && isRecord(index.demo) ? index.demo.chains : undefined
  if (!Array.isArray(chains)) throw new AssayError('request_failed', { detail: 'This is not a demo node.' })
  return chains.flatMap((chain: unknown) => {
    const { network, usdc } = isRecord(chain) ? chain : {}
    if (typeof network !== 'string' || typeof usdc !== 'string') return []
    if (!/^eip155:[1-9]\d*$/.test(network) || !/^0x[0-9a-fA-F]{40}$/.test(usdc)) return []
    if (isRealUsdc(usdc)) return []
    return [row(Number(network.slice(7)), usdc as `0x${string}`, 'USD Coin')]
  })
}

function isRealUsdc(address: string): boolean {
  return [baseNetwork, polygonNetwork].some(({ usdc }) => usdc.toLowerCase() === address.toLowerCase())
}
