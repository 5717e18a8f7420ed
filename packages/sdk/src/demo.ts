import { addressPattern } from '@assay/protocol/address'
import { isRecord } from '@assay/protocol/json-object'
import { isLoopbackUrl } from '@assay/protocol/loopback'
import { AssayError } from './errors.ts'
import { baseNetwork, type PayableNetwork, polygonNetwork } from './networks.ts'
import { defaultPlatform, type Platform } from './platform.ts'

/** A funded account of a demo node. Its key is public and worth nothing elsewhere. */
export type DemoAccount = { role: string; address: `0x${string}`; privateKey: `0x${string}` }

export type Demo = {
  networks: PayableNetwork[]
  /** The word that the node has for each of them, such as `base`, to its CAIP-2 id. */
  names: Readonly<Record<string, string>>
  accounts: DemoAccount[]
}

/**
 * Chains and accounts of a demo node on this machine. Only there: anywhere else a seller could pass off
 * a token of value as its test asset.
 */
export async function readDemo(baseUrl: string, platform: Pick<Platform, 'fetch'> = defaultPlatform): Promise<Demo> {
  if (!isLoopbackUrl(baseUrl))
    throw new AssayError('host_not_allowed', { detail: 'Demo wallets and chains are read from this machine only.' })
  const request = new Request(new URL('/', baseUrl), { headers: { accept: 'application/json' }, redirect: 'error' })
  const index: unknown = await platform
    .fetch(request)
    .then((response) => response.json())
    .catch((error: unknown) => {
      throw new AssayError('request_failed', { detail: new URL('/', baseUrl).href }, error)
    })
  const demo = isRecord(index) && isRecord(index.demo) ? index.demo : undefined
  if (demo === undefined || !Array.isArray(demo.chains)) throw new AssayError('not_a_demo_node')
  const accounts = Array.isArray(demo.accounts) ? demo.accounts : []
  const networks = demo.chains.flatMap(readChain)
  return { networks, names: readNames(index, networks), accounts: accounts.flatMap(readAccount) }
}

export async function readDemoNetworks(baseUrl: string, platform?: Pick<Platform, 'fetch'>): Promise<PayableNetwork[]> {
  return (await readDemo(baseUrl, platform)).networks
}

function readChain(chain: unknown): PayableNetwork[] {
  const { network, usdc } = isRecord(chain) ? chain : {}
  if (typeof network !== 'string' || typeof usdc !== 'string') return []
  if (!/^eip155:[1-9]\d*$/.test(network) || !addressPattern.test(usdc) || isRealUsdc(usdc)) return []
  return [{ network: network as `eip155:${number}`, usdc: usdc as `0x${string}`, name: 'USD Coin', version: '2' }]
}

function readNames(index: unknown, networks: readonly PayableNetwork[]): Record<string, string> {
  const named: unknown[] = isRecord(index) && Array.isArray(index.networks) ? index.networks : []
  const entries = named.flatMap((one): [string, string][] => {
    const { network, name } = isRecord(one) ? one : {}
    const known = networks.find((chain) => chain.network === network)
    return known === undefined || typeof name !== 'string' ? [] : [[name, known.network]]
  })
  return Object.fromEntries(entries)
}

function readAccount(account: unknown): DemoAccount[] {
  const { role, address, private_key: key } = isRecord(account) ? account : {}
  if (typeof role !== 'string' || typeof address !== 'string' || typeof key !== 'string') return []
  if (!addressPattern.test(address) || !/^0x[0-9a-fA-F]{64}$/.test(key)) return []
  return [{ role, address: address as `0x${string}`, privateKey: key as `0x${string}` }]
}

function isRealUsdc(address: string): boolean {
  return [baseNetwork, polygonNetwork].some(({ usdc }) => usdc.toLowerCase() === address.toLowerCase())
}
