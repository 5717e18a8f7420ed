import { join } from 'node:path'
import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Facilitator } from '@assay/till'
import {
  type ChainPort,
  createChain,
  createRpc,
  httpEndpoint,
  type Network,
  type Rpc,
  type RpcEndpoint,
  RpcRefusal,
} from '@assay/till/chain'
import { createForgottenTransactions, createWalletKey } from '@assay/till/chain/wallet'
import type { Clock } from '@assay/till/kernel/clock'
import type { Ids } from '@assay/till/kernel/ids'
import type { Log } from '@assay/till/kernel/log'
import type { Rng } from '@assay/till/kernel/random'
import { type CheckContractSignature, createContractSignatureChecker } from '@assay/till/proofs'
import { createKeyring, type Keyring } from '@assay/till/signing'
import type { Database } from '@assay/till/store/database'
import { type DetectDeps, detectRestore } from '@assay/till/store/detect-restore'
import { ensureInstance } from '@assay/till/store/instance'
import { ownerOf } from '@assay/till/store/migrate'
import { openStore, type Store } from '@assay/till/store/open-store'
import { type Config, ConfigError, type ConfiguredNetwork } from '../config/load-config.ts'
import { demoUsdcAddress } from '../devnet/accounts.ts'
import type { Devnet } from '../devnet/index.ts'
import type { PrometheusMetrics, Shop } from '../http/index.ts'

/** Undone in the reverse order when the node stops: the database is opened first and so closed last. */
export type Stops = (() => Promise<void>)[]

export type Ports = {
  clock: Clock
  rng: Rng
  ids: Ids
  log: Log
  metrics: PrometheusMetrics
  progress(text: string): void
}

export type Ground = {
  store: Store
  networks: readonly Network[]
  /** By network; the endpoints behind each `rpc`. */
  endpoints: ReadonlyMap<string, readonly RpcEndpoint[]>
  rpcs: ReadonlyMap<string, Rpc>
  chains: ReadonlyMap<string, ChainPort>
  devnets: readonly Devnet[]
  keyring: Keyring
  logKeyring: Keyring
  /** Finds out whether the database was restored to an earlier time. */
  restoreDetection: DetectDeps
  checkContractSignature: CheckContractSignature
}

/** Each gets the real thing and gives what the node shall use instead. */
export type Interceptors = {
  database?(database: Database): Database
  rpc?(endpoint: RpcEndpoint): RpcEndpoint
  chain?(chain: ChainPort): ChainPort
  facilitator?(facilitator: Facilitator): Facilitator
  shop?(shop: Shop): Shop
  /** One round of a job, with its lease. */
  job?(name: string, round: () => Promise<void>): () => Promise<void>
}

export type GroundOptions = {
  onLost(): void
  intercept: Interceptors
  devnets?: readonly Devnet[]
  /** Folders of migrations, in the order in which they build on each other. */
  migrations: readonly URL[]
}

/** Database, chains and keys, checked against each other and against the configuration. */
export async function openGround(config: Config, ports: Ports, stops: Stops, options: GroundOptions): Promise<Ground> {
  const { clock, rng, log } = ports
  const opened = await openStore({
    home: config.home,
    ...(config.databaseUrl === undefined ? {} : { databaseUrl: config.databaseUrl }),
    ...(config.databaseUrlDirect === undefined ? {} : { directUrl: config.databaseUrlDirect }),
    port: config.databasePort,
    migrations: options.migrations.map(ownerOf),
    clock,
    log,
    rng,
    onProgress: ports.progress,
    onLockLost: options.onLost,
  })
  stops.push(() => opened.stop())
  const store = { ...opened, database: options.intercept.database?.(opened.database) ?? opened.database }
  if (config.mode === 'production' && store.problems.length > 0) throw new ConfigError(store.problems)

  const devnets = options.devnets ?? (await startDevnets(config, ports, stops))
  const networks = config.mode === 'demo' ? config.networks.map(withDemoAsset) : config.networks
  const rpcs = new Map(
    networks.map((network) => {
      const given = endpointsOf(network, devnets).map((endpoint) => options.intercept.rpc?.(endpoint) ?? endpoint)
      return [network.caip2, createRpc(given, { clock, log, metrics: ports.metrics, chainId: network.chainId })]
    }),
  )
  const endpoints = new Map([...rpcs].map(([caip2, rpc]) => [caip2, rpc.endpoints]))
  const checkContractSignature = contractSignatures(config, networks, rpcs)
  const chains = new Map(
    [...openChains(config, clock, networks, rpcs, checkContractSignature)].map(([caip2, chain]) => [
      caip2,
      options.intercept.chain?.(chain) ?? chain,
    ]),
  )
  const problems = (await Promise.all([...chains.values()].map((chain) => chain.verifyAsset()))).flat()
  if (problems.length > 0) throw new ConfigError(problems)

  const keyring = await createKeyring({
    database: store.database,
    clock,
    rng,
    log,
    ...(config.signingKeyFile === undefined ? {} : { keyFile: config.signingKeyFile }),
  })
  stops.push(() => keyring.close())
  const logKeyring = await createKeyring({
    database: store.database,
    clock,
    rng,
    log,
    purpose: 'log',
    ...(config.logKeyFile === undefined ? {} : { keyFile: config.logKeyFile }),
  })
  stops.push(() => logKeyring.close())
  await ensureInstance(store.database, {
    mode: config.mode,
    chains: await Promise.all(
      [...chains.values()].map(async (chain) => ({
        id: chain.network.caip2,
        genesis: (await chain.blockHash(0n)) ?? '',
      })),
    ),
    assets: Object.fromEntries(networks.map((network) => [network.caip2, network.usdc.address])),
    payees: instancePayees(config),
    // The first key names the node for good; later ones are vouched for by it.
    keyId: keyring.keys()[0]?.keyId ?? '',
  })
  const restoreDetection: DetectDeps = {
    database: store.database,
    home: config.home,
    log,
    metrics: ports.metrics,
    forgotten: createForgottenTransactions({
      database: store.database,
      clock,
      log,
      metrics: ports.metrics,
      rpcs,
      wallets: config.settlerKeys.map((key) => createWalletKey(key).address),
    }),
    heads: async () =>
      new Map(
        await Promise.all([...chains].map(async ([caip2, chain]) => [caip2, (await chain.head()).number] as const)),
      ),
  }
  await detectRestore(restoreDetection)
  return {
    restoreDetection,
    store,
    networks,
    endpoints,
    rpcs,
    chains,
    devnets,
    keyring,
    logKeyring,
    checkContractSignature,
  }
}

/** Who is paid where, as the instance row names it. */
export function instancePayees({ networks, payTo }: Config): Record<string, string> {
  return Object.fromEntries(
    networks.flatMap(({ caip2, custody }) => [
      [`pay_to ${caip2}`, payTo],
      [`custody ${caip2}`, custody],
    ]),
  )
}

/** The demo chains carry the real chain ids, so their dollars must be at addresses of their own. */
function withDemoAsset(network: ConfiguredNetwork): ConfiguredNetwork {
  return { ...network, usdc: { ...network.usdc, address: demoUsdcAddress(network.chainId) } }
}

async function startDevnets(config: Config, ports: Ports, stops: Stops): Promise<Devnet[]> {
  const joins = config.networks.every(({ rpcUrls }) => rpcUrls.length > 0)
  if (config.mode === 'production' || joins) return []
  // Loaded here and nowhere else: production carries no embedded chain.
  const { startDevnet } = await import('../devnet/index.ts')
  return Promise.all(
    config.networks.map(async (network) => {
      const devnet = await startDevnet({
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
  return devnet ? [inProcess(devnet)] : rpcUrls.map(httpEndpoint)
}

function inProcess(devnet: Devnet): RpcEndpoint {
  return {
    name: `embedded ${devnet.chainId}`,
    send: (calls) =>
      Promise.all(
        calls.map((call) =>
          devnet
            .request(call.method, [...call.params])
            .catch((error: { code?: number; message?: string; data?: unknown }) => {
              throw new RpcRefusal(error.code ?? -32603, error.message ?? 'failed', error.data)
            }),
        ),
      ),
  }
}

function contractSignatures(
  config: Config,
  networks: readonly Network[],
  rpcs: ReadonlyMap<string, Rpc>,
): CheckContractSignature {
  return createContractSignatureChecker({
    chains: new Map(
      networks.map((network) => [
        network.chainId,
        { rpc: signatureRpc(rpcs.get(network.caip2) as Rpc), multicall3: network.multicall3 },
      ]),
    ),
    factories: config.erc6492Factories,
  })
}

/** How old a head or final block may be that all readers of a node share: real providers count every call. */
const sharedFor = { headAgeMsMax: 2_000, finalAgeMsMax: 15_000 }

function openChains(
  config: Config,
  clock: Clock,
  networks: readonly Network[],
  rpcs: ReadonlyMap<string, Rpc>,
  check: CheckContractSignature,
): Map<string, ChainPort> {
  return new Map(
    networks.map((network) => [
      network.caip2,
      createChain({
        network,
        rpc: rpcs.get(network.caip2) as Rpc,
        clock,
        ...(config.mode === 'production' ? sharedFor : {}),
        checkContractSignature: (address, digest, signature) =>
          check({ chainId: network.chainId, address, digest, signature }),
      }),
    ]),
  )
}

function signatureRpc(rpc: Rpc) {
  return {
    call: async (request: { to: Address; data: Hex; gas: bigint }) =>
      (await rpc.first('eth_call', [
        { to: request.to, data: request.data, gas: `0x${request.gas.toString(16)}` },
        'latest',
      ])) as Hex,
    getCode: async (address: Address) => (await rpc.first('eth_getCode', [address, 'latest'])) as Hex,
  }
}
