import { type Custody, createJwsPort, type OpenedSettlement, type Stops } from '@assay/till/compose'
import type { Payees } from '@assay/till/internal'
import { createNonceIssuer, loadSharedSecret, type ProofDeps } from '@assay/till/proofs'

import { claimNonce } from '@assay/till/store/nonce-claims'
import type { Config, ConfiguredShop } from '../config/load-config.ts'
import type { OpenShop, Shop, ShopContext } from '../shops/shop.ts'
import { createShopPorts } from '../shops/shop-ports.ts'
import type { Infrastructure, Ports } from './infrastructure.ts'

export type Origins = { baseUrl: string; apiUrl: string }

export function payeesOf({ networks, payTo }: Pick<Config, 'networks' | 'payTo'>): Payees {
  return {
    pay_to: Object.fromEntries(networks.map(({ caip2 }) => [caip2, payTo])),
    custody: Object.fromEntries(networks.map(({ caip2, custody }) => [caip2, custody])),
  }
}

/** What is open before the shops are. */
export type ShopContextParts = {
  config: Config
  shops: readonly Pick<ConfiguredShop, 'topics'>[]
  ports: Ports
  infrastructure: Infrastructure
  origins: Origins
  payees: Payees
  settlement: Pick<OpenedSettlement, 'screening'>
  /** Absent in a process that does no jobs. */
  custody: Custody | undefined
}

/** What every shop is given, made once. */
export async function shopContext(parts: ShopContextParts): Promise<ShopContext> {
  const { config, ports, infrastructure, origins, payees, custody } = parts
  const [base] = infrastructure.networks
  if (!base) throw new Error('a network is needed')
  return {
    mode: config.mode,
    ...origins,
    base,
    networks: infrastructure.networks,
    assets: infrastructure.assets,
    chains: infrastructure.chains,
    rpcs: infrastructure.rpcs,
    endpoints: infrastructure.endpoints,
    home: config.home,
    cacheFolder: config.home,
    payees,
    custody,
    screening: parts.settlement.screening,
    ports: createShopPorts(),
    topics: parts.shops.flatMap(({ topics }) => topics ?? []),
    database: infrastructure.store.database,
    keyring: infrastructure.keyring,
    logKeyring: infrastructure.logKeyring,
    jws: createJwsPort(
      infrastructure.keyring,
      [new URL(origins.baseUrl).host, new URL(origins.apiUrl).host],
      ports.clock,
    ),
    proofs: await proofDeps(ports, infrastructure),
    clock: ports.clock,
    rng: ports.rng,
    ids: ports.ids,
    log: ports.log,
    metrics: ports.metrics,
  }
}

type NamedShop = { name: string; open: OpenShop }

/** In order: a shop may count on those before it being open. Its routes carry its name from here on. */
export async function openShops(context: ShopContext, shops: readonly NamedShop[], stops: Stops): Promise<Shop[]> {
  const opened: Shop[] = []
  for (const { name, open } of shops) {
    const shop = await open(context)
    let stopped: Promise<void> | undefined
    const stop = () => {
      stopped ??= (async () => shop.stop?.())()
      return stopped
    }
    stops.push(stop)
    opened.push({ ...shop, routes: shop.routes.map((route) => ({ ...route, shop: name })), stop })
  }
  return opened
}

async function proofDeps(ports: Ports, infrastructure: Infrastructure): Promise<ProofDeps> {
  const { database } = infrastructure.store
  const secret = await loadSharedSecret(database, 'proof_nonces', ports.rng)
  return {
    clock: ports.clock,
    nonces: createNonceIssuer({ secret, clock: ports.clock, rng: ports.rng }),
    claimNonce: (claim) => claimNonce(database, claim),
    checkContractSignature: infrastructure.checkContractSignature,
    chainIds: infrastructure.networks.map((network) => network.chainId),
  }
}
