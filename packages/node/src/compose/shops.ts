import { createJwsPort, type Stops } from '@assay/till/compose'
import type { Payees } from '@assay/till/internal'
import { createNonceIssuer, loadSharedSecret, type ProofDeps } from '@assay/till/proofs'

import { claimNonce } from '@assay/till/store/nonce-claims'
import type { Config } from '../config/load-config.ts'
import { createShopPorts, type OpenShop, type Shop, type ShopContext } from '../http/index.ts'
import type { Ground, Ports } from './ground.ts'

export type Origins = { baseUrl: string; apiUrl: string }

export function payeesOf({ networks, payTo }: Pick<Config, 'networks' | 'payTo'>): Payees {
  return {
    pay_to: Object.fromEntries(networks.map(({ caip2 }) => [caip2, payTo])),
    custody: Object.fromEntries(networks.map(({ caip2, custody }) => [caip2, custody])),
  }
}

/** What every shop is given, made once. */
export async function shopContext(
  config: Config,
  ports: Ports,
  ground: Ground,
  origins: Origins,
  payees: Payees,
  payouts: ShopContext['payouts'] = () => undefined,
): Promise<ShopContext> {
  const [base] = ground.networks
  if (!base) throw new Error('a network is needed')
  return {
    mode: config.mode,
    ...origins,
    base,
    networks: ground.networks,
    chains: ground.chains,
    rpcs: ground.rpcs,
    endpoints: ground.endpoints,
    home: config.home,
    cacheFolder: config.home,
    payees,
    payouts,
    ports: createShopPorts(),
    database: ground.store.database,
    keyring: ground.keyring,
    logKeyring: ground.logKeyring,
    jws: createJwsPort(ground.keyring, [new URL(origins.baseUrl).host, new URL(origins.apiUrl).host], ports.clock),
    proofs: await proofDeps(ports, ground),
    clock: ports.clock,
    rng: ports.rng,
    ids: ports.ids,
    log: ports.log,
    metrics: ports.metrics,
  }
}

/** In order: a shop may count on those before it being open. */
export async function openShops(context: ShopContext, shops: readonly OpenShop[], stops: Stops): Promise<Shop[]> {
  const opened: Shop[] = []
  for (const open of shops) {
    const shop = await open(context)
    let stopped: Promise<void> | undefined
    const stop = () => {
      stopped ??= (async () => shop.stop?.())()
      return stopped
    }
    stops.push(stop)
    opened.push({ ...shop, stop })
  }
  return opened
}

async function proofDeps(ports: Ports, ground: Ground): Promise<ProofDeps> {
  const { database } = ground.store
  const secret = await loadSharedSecret(database, 'proof_nonces', ports.rng)
  return {
    clock: ports.clock,
    nonces: createNonceIssuer({ secret, clock: ports.clock, rng: ports.rng }),
    claimNonce: (claim) => claimNonce(database, claim),
    checkContractSignature: ground.checkContractSignature,
    chainIds: ground.networks.map((network) => network.chainId),
  }
}
