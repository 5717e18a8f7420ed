import { join } from 'node:path'
import { httpEndpoint, type RpcEndpoint } from '@assay/till/chain'
import {
  openInfrastructure as openTillInfrastructure,
  openTillStore,
  type Stops,
  type Infrastructure as TillInfrastructure,
  type Interceptors as TillInterceptors,
  type Ports as TillPorts,
} from '@assay/till/compose'
import type { Devnet } from '@assay/till/devnet'
import { demoUsdcAddress } from '@assay/till/devnet/accounts'
import { devnetEndpoint } from '@assay/till/devnet/endpoint'
import type { Payees } from '@assay/till/internal'
import { createKeyring, type Keyring } from '@assay/till/signing'
import type { Config, ConfiguredNetwork } from '../config/load-config.ts'
import type { PrometheusMetrics } from '../http/index.ts'
import type { Shop } from '../shops/shop.ts'
import { startDemoChain } from './demo-chain.ts'
import { openSigningKeyPlaces, type WalletKeys } from './wallet-keys.ts'

export type Ports = TillPorts & { metrics: PrometheusMetrics }

export type Infrastructure = TillInfrastructure & { devnets: readonly Devnet[]; logKeyring: Keyring }

/** Each gets the real thing and gives what the node shall use instead. */
export type Interceptors = TillInterceptors & { shop?(shop: Shop): Shop }

export type InfrastructureOptions = {
  payees: Payees
  keys: WalletKeys
  onLost(): void
  intercept: Interceptors
  devnets?: readonly Devnet[]
  /** Folders of migrations, in the order in which they build on each other. */
  migrations: readonly URL[]
}

/** Database, chains and keys of the node, checked against each other and against the configuration. */
export async function openInfrastructure(
  config: Config,
  ports: Ports,
  stops: Stops,
  options: InfrastructureOptions,
): Promise<Infrastructure> {
  const { intercept, payees } = options
  const store = await openTillStore({ ...config, ...options }, ports, stops, intercept)
  // Only after the data folder is held: the chains keep their journals there.
  const devnets = options.devnets ?? (await startDevnets(config, ports, stops))
  const networks = config.mode === 'demo' ? config.networks.map(withDemoAsset) : config.networks
  const endpoints = new Map(networks.map((network) => [network.caip2, endpointsOf(network, devnets)]))
  const places = await openSigningKeyPlaces(config, ports)
  stops.push(() => places.close())
  const infrastructure = await openTillInfrastructure(
    { ...config, ...options.keys, signingKeyFile: places.signingKeyFile, networks, endpoints, payees },
    ports,
    store,
    stops,
    intercept,
  )
  const { logKeyFile: keyFile } = places
  const { clock, rng, log } = ports
  const logKeyring = await createKeyring({
    ...{ database: store.database, clock, rng, log, purpose: 'log' as const },
    ...(keyFile === undefined ? {} : { keyFile }),
  })
  stops.push(() => logKeyring.close())
  return { ...infrastructure, devnets, logKeyring }
}

/** The demo chains carry the real chain ids, so their dollars must be at their own addresses. */
function withDemoAsset(network: ConfiguredNetwork): ConfiguredNetwork {
  return { ...network, usdc: { ...network.usdc, address: demoUsdcAddress(network.chainId) } }
}

/** The embedded chains of a demo node; none where it joins others. */
export async function startDevnets(
  config: Config,
  ports: Pick<Ports, 'clock' | 'log'>,
  stops: Stops,
): Promise<Devnet[]> {
  const joins = config.networks.every(({ rpcUrls }) => rpcUrls.length > 0)
  if (config.mode === 'production' || joins) return []
  return Promise.all(
    config.networks.map(async (network) => {
      const devnet = await startDemoChain(config.shops, {
        chainId: network.chainId,
        folder: join(config.home, 'chains', String(network.chainId)),
        port: network.devnetPort,
        clock: ports.clock,
        log: ports.log,
      })
      stops.push(() => devnet.stop())
      return devnet
    }),
  )
}

function endpointsOf({ chainId, rpcUrls }: ConfiguredNetwork, devnets: readonly Devnet[]): RpcEndpoint[] {
  const devnet = devnets.find((one) => one.chainId === chainId)
  return devnet ? [devnetEndpoint(devnet)] : rpcUrls.map(httpEndpoint)
}
