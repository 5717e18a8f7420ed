import type { Address } from '@assay/protocol/address'
import { type ChainPort, createRpc, type Network, type Rpc, type RpcEndpoint, withDollars } from '../chain/index.ts'
import { createMissingTransactionCheck, type KeySource, signerOf } from '../chain/wallet/index.ts'
import type { Payees } from '../contract/terms.ts'
import { ConfigError } from '../kernel/config-error.ts'
import type { CheckContractSignature } from '../proofs/index.ts'
import { createKeyring, type KeyPlace, type Keyring } from '../signing/index.ts'
import { createAcknowledged } from '../store/acknowledged.ts'
import { type DetectDeps, detectRestore } from '../store/detect-restore.ts'
import { ensureInstance, type InstanceFacts } from '../store/instance.ts'
import { ownerOf } from '../store/migrate.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { contractSignatures, openChains } from './open-chains.ts'
import type { Interceptors, Ports, Stops } from './parts.ts'

export type StoreSettings = {
  mode: 'demo' | 'production'
  /** The data folder: the embedded server keeps its cluster there. */
  home: string | undefined
  /** A PostgreSQL server to use instead of the embedded one. */
  databaseUrl: string | undefined
  /** Past the transaction pooler that `databaseUrl` names. */
  databaseUrlDirect: string | undefined
  /** A standby of it, for reads that may lag. */
  databaseUrlReplica?: string | undefined
  /** `databaseUrl` names a transaction pooler and nothing leads past it. */
  databasePooled?: boolean
  /** Port of the embedded server. */
  databasePort?: number
  /** Folders of migrations beside the till's own, in the order in which they build on each other. */
  migrations: readonly URL[]
  onLost(): void
}

/** The database, with its tables as this version needs them. */
export async function openTillStore(
  settings: StoreSettings,
  ports: Ports,
  stops: Stops,
  intercept: Interceptors,
): Promise<Store> {
  const { home, databaseUrl, databaseUrlDirect, databaseUrlReplica, databasePort, databasePooled } = settings
  const opened = await openStore({
    ...(home === undefined ? {} : { home }),
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    ...(databaseUrlDirect === undefined ? {} : { directUrl: databaseUrlDirect }),
    ...(databaseUrlReplica === undefined ? {} : { replicaUrl: databaseUrlReplica }),
    ...(databasePort === undefined ? {} : { port: databasePort }),
    ...(databasePooled === undefined ? {} : { pooled: databasePooled }),
    migrations: settings.migrations.map(ownerOf),
    clock: ports.clock,
    log: ports.log,
    rng: ports.rng,
    onProgress: ports.progress,
    onLockLost: settings.onLost,
  })
  stops.push(() => opened.stop())
  if (settings.mode === 'production' && opened.problems.length > 0) throw new ConfigError(opened.problems)
  return { ...opened, database: intercept.database?.(opened.database) ?? opened.database }
}

export type InfrastructureSettings = {
  mode: 'demo' | 'production'
  /** Remembers what the database was last seen to hold; without it an older copy of the data is not noticed by itself. */
  home: string | undefined
  networks: readonly Network[]
  /** By network. */
  endpoints: ReadonlyMap<string, readonly RpcEndpoint[]>
  payees: Payees
  /** How other payees than those in the database are accepted, for the error. */
  payeesHint?: string
  signingKeyFile: KeyPlace | undefined
  settlerKeys: readonly KeySource[]
  /** Of each endpoint; without it as many as are needed. */
  rpcCallsPerMinute?: number | undefined
  erc6492Factories: readonly Address[]
}

export type Infrastructure = {
  store: Store
  networks: readonly Network[]
  /** The networks, and each further dollar as one more: what can be paid. `chains` has all of them. */
  assets: readonly Network[]
  /** By network; the endpoints behind each `rpc`. */
  endpoints: ReadonlyMap<string, readonly RpcEndpoint[]>
  rpcs: ReadonlyMap<string, Rpc>
  chains: ReadonlyMap<string, ChainPort>
  keyring: Keyring
  /** Finds out whether the database was restored to an earlier time. */
  restoreDetection: DetectDeps & Required<Pick<DetectDeps, 'acknowledged'>>
  checkContractSignature: CheckContractSignature
}

/** What is composed so far; the parts that are opened later add to `stops`. */
export type Composition = { ports: Ports; infrastructure: Infrastructure; stops: Stops }

/** Chains and keys, checked against the database and against each other. */
export async function openInfrastructure(
  settings: InfrastructureSettings,
  ports: Ports,
  store: Store,
  stops: Stops,
  intercept: Interceptors,
): Promise<Infrastructure> {
  const { clock, rng, log, metrics } = ports
  const { networks } = settings
  const assets = withDollars(networks)
  const { database } = store
  const rpcs = new Map(
    networks.map(({ caip2, chainId }) => {
      const given = (settings.endpoints.get(caip2) ?? []).map((endpoint) => intercept.rpc?.(endpoint) ?? endpoint)
      return [caip2, createRpc(given, { clock, log, metrics, chainId, ...budgetOf(settings) })]
    }),
  )
  const endpoints = new Map([...rpcs].map(([caip2, rpc]) => [caip2, rpc.endpoints]))
  const checkContractSignature = contractSignatures(settings.erc6492Factories, networks, rpcs)
  const chains = openChains(
    { mode: settings.mode, clock, networks: assets, rpcs, check: checkContractSignature },
    intercept.chain,
  )
  const problems = (await Promise.all([...chains.values()].map((chain) => chain.verifyAsset()))).flat()
  if (problems.length > 0) throw new ConfigError(problems)

  const { signingKeyFile: keyFile } = settings
  const keyring = await createKeyring({ database, clock, rng, log, ...(keyFile === undefined ? {} : { keyFile }) })
  stops.push(() => keyring.close())
  const facts: InstanceFacts = {
    mode: settings.mode,
    chains: await Promise.all(
      networks.map(async ({ caip2 }) => ({ id: caip2, genesis: (await chains.get(caip2)?.blockHash(0n)) ?? '' })),
    ),
    assets: Object.fromEntries(networks.map((network) => [network.caip2, network.usdc.address])),
    payees: instancePayees(networks, settings.payees),
    // The first key names the till for good; later ones are vouched for by it.
    keyId: keyring.keys()[0]?.keyId ?? '',
  }
  await ensureInstance(database, facts, settings.payeesHint)
  const restoreDetection: Infrastructure['restoreDetection'] = {
    database,
    acknowledged: createAcknowledged(),
    home: settings.home,
    clock,
    log,
    metrics,
    missingTransactions: createMissingTransactionCheck({
      ...{ database, clock, log, metrics, rpcs },
      wallets: settings.settlerKeys.map((key) => signerOf(key).address),
    }),
    heads: async () =>
      new Map(
        await Promise.all([...chains].map(async ([caip2, chain]) => [caip2, (await chain.head()).number] as const)),
      ),
  }
  await detectRestore(restoreDetection)
  return { restoreDetection, store, networks, assets, endpoints, rpcs, chains, keyring, checkContractSignature }
}

const budgetOf = ({ rpcCallsPerMinute: callsPerMinute }: Pick<InfrastructureSettings, 'rpcCallsPerMinute'>) =>
  callsPerMinute === undefined ? {} : { callsPerMinute }

/** Who is paid where, as the instance row names it. */
export function instancePayees(
  networks: readonly Pick<Network, 'caip2'>[],
  { pay_to, custody }: Payees,
): Record<string, string> {
  return Object.fromEntries(
    networks.flatMap(({ caip2 }) => [
      [`pay_to ${caip2}`, pay_to[caip2] ?? ''],
      ...(custody[caip2] === undefined ? [] : [[`custody ${caip2}`, custody[caip2]]]),
    ]),
  )
}
