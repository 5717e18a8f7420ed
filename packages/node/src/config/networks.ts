import { type Address, hasChecksum, parseAddress, zeroAddress } from '@assay/protocol/address'
import { defineNetwork, dollarProblems, furtherDollar, knownNetworks, type Network } from '@assay/till/chain'
import { z } from 'zod'
import type { ConfiguredNetwork } from './config-type.ts'
import type { Environment } from './environment.ts'
import { checkUrls } from './values.ts'

const known = (chainId: number) => knownNetworks.find((network) => network.chainId === chainId) as Network

const chainSchema = z.strictObject({
  chain_id: z.int().positive(),
  rpc_urls: z.array(z.string()).default([]),
  usdc: z.string().refine(hasChecksum, 'must be an address with its EIP-55 checksum').optional(),
  usdc_name: z.string().min(1).max(40).optional(),
  usdc_version: z.string().min(1).max(10).optional(),
  native_usd_max: z.int().positive().optional(),
})

type Chain = { network: Network } & Pick<ConfiguredNetwork, 'rpcUrls' | 'rpcVariable'>

/** Base and Polygon, or their test networks, and whatever `CHAINS` adds, by name. */
export function configuredNetworks(env: Environment, fallback: Address, problems: string[]): ConfiguredNetwork[] {
  const ids = env.NETWORKS === 'main' ? { base: 8453, polygon: 137 } : { base: 84532, polygon: 80002 }
  const named = (chainId: number, rpcVariable: 'BASE_RPC_URLS' | 'POLYGON_RPC_URLS'): Chain => ({
    network: known(chainId),
    rpcUrls: checkUrls(rpcVariable, env[rpcVariable], problems),
    rpcVariable,
  })
  const chains: Chain[] = [
    named(ids.base, 'BASE_RPC_URLS'),
    named(ids.polygon, 'POLYGON_RPC_URLS'),
    ...furtherChains(env.CHAINS ?? {}, problems),
  ]
  if (new Set(chains.map(({ network }) => network.chainId)).size < chains.length)
    problems.push('CHAINS: names a chain that the node has already')
  const custody = custodyOf(env.CUSTODY, chains, fallback, problems)
  const dollarsOf = furtherDollars(env.DOLLARS ?? {}, chains, problems)
  return chains.map(({ network, rpcUrls, rpcVariable }, index) => ({
    ...network,
    ...dollarsOf(network),
    rpcUrls,
    rpcVariable,
    custody: custody(network),
    devnetPort: env.DEVNET_PORTS[index] ?? 0,
  }))
}

function furtherChains(given: Record<string, unknown>, problems: string[]): Chain[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const parsed = chainSchema.safeParse(value)
    if (!/^[a-z][a-z0-9-]{0,30}$/.test(name))
      problems.push(`CHAINS: ${name} is not a name of lower-case letters and digits`)
    if (!parsed.success) {
      problems.push(...parsed.error.issues.map((issue) => `CHAINS: ${name}.${issue.path.join('.')} ${issue.message}`))
      return []
    }
    const { chain_id: chainId, usdc, usdc_name, usdc_version, native_usd_max } = parsed.data
    const template = knownNetworks.find((network) => network.chainId === chainId)
    const address = usdc === undefined ? template?.usdc.address : parseAddress(usdc)
    if (address === undefined && isRealChain(parsed.data.rpc_urls))
      problems.push(`CHAINS: ${name}.usdc is missing, the address of USDC on that chain`)
    return [
      {
        network: defineNetwork({
          ...template,
          chainId,
          name,
          usdc: {
            address: address ?? zeroAddress,
            name: usdc_name ?? template?.usdc.name ?? 'USD Coin',
            version: usdc_version ?? template?.usdc.version ?? '2',
            decimals: 6,
          },
          ...(native_usd_max === undefined ? {} : { nativeUsdMax: BigInt(native_usd_max) }),
        }),
        rpcUrls: checkUrls(`CHAINS: ${name}.rpc_urls`, parsed.data.rpc_urls, problems),
        rpcVariable: 'CHAINS' as const,
      },
    ]
  })
}

const dollarsSchema = z.array(
  z.strictObject({
    address: z.string().refine(hasChecksum, 'must be an address with its EIP-55 checksum'),
    symbol: z.string(),
    name: z.string().min(1).max(40).optional(),
    version: z.string().min(1).max(10).optional(),
  }),
)

/** What `DOLLARS` adds to each chain. */
function furtherDollars(given: Record<string, unknown>, chains: readonly Chain[], problems: string[]) {
  const byChain = new Map<string, Pick<Network, 'dollars'>>()
  for (const [name, value] of Object.entries(given)) {
    const parsed = dollarsSchema.safeParse(value)
    const network = chains.find((one) => one.network.name === name)?.network
    if (!network) problems.push(`DOLLARS: the node has no chain ${name}`)
    if (!parsed.success)
      problems.push(...parsed.error.issues.map((issue) => `DOLLARS: ${name}.${issue.path.join('.')} ${issue.message}`))
    if (!network || !parsed.success) continue
    const dollars = parsed.data.map((one) => furtherDollar({ ...one, address: parseAddress(one.address) as Address }))
    problems.push(...dollarProblems({ ...network, dollars }).map((problem) => `DOLLARS: ${name}: ${problem}`))
    byChain.set(name, { dollars })
  }
  return ({ name }: Network): Pick<Network, 'dollars'> => byChain.get(name) ?? {}
}

/** A chain with configured endpoints is a real one. */
const isRealChain = (rpcUrls: readonly string[]) => rpcUrls.length > 0

/** One address for all chains, or `eip155:8453=0x…,eip155:137=0x…`. */
function custodyOf(
  value: string | undefined,
  chains: readonly Chain[],
  fallback: Address,
  problems: string[],
): (network: Network) => Address {
  if (value === undefined) return () => fallback
  const entries = value.includes('=')
    ? new Map(value.split(',').map((part) => part.split('=').map((side) => side.trim()) as [string, string]))
    : new Map(chains.map(({ network }) => [network.caip2, value]))
  return ({ caip2 }) => {
    const text = entries.get(caip2)
    if (text === undefined || !hasChecksum(text))
      problems.push(`CUSTODY: needs an address with its EIP-55 checksum for ${caip2}`)
    return parseAddress(text) ?? zeroAddress
  }
}
