import type { Address } from '@assay/protocol/address'
import type { Facilitator, Owner } from '@assay/till'
import type { SettlementWallets } from '@assay/till/chain/wallet'
import {
  createCdpFacilitator,
  createHttpFacilitator,
  createLocalFacilitator,
  type LocalFacilitator,
  withBreaker,
} from '@assay/till/facilitators'
import type { Config } from '../config/load-config.ts'
import type { Ground, Ports, Stops } from './ground.ts'
import { openSettlementWallets } from './settlement-wallets.ts'

export type OpenedFacilitator = {
  facilitator: Facilitator
  local?: {
    facilitator: LocalFacilitator
    wallets: readonly Address[]
    senders: readonly SettlementWallets[]
    recoverLanes(): Promise<void>
  }
}

/** Whoever moves the money, as configured. A second provider during an outage is a change of FACILITATOR. */
export async function openFacilitator(
  config: Config,
  ports: Ports,
  ground: Ground,
  owner: Owner,
  stops: Stops,
): Promise<OpenedFacilitator> {
  const { clock, rng, log, metrics } = ports
  const choice = config.facilitator
  if (choice.kind === 'cdp')
    return {
      facilitator: withBreaker(
        createCdpFacilitator({
          apiKeyId: choice.keyId,
          apiKeySecret: choice.keySecret,
          sql: ground.store.database,
          clock,
          rng,
          log,
          metrics,
        }),
        ports,
      ),
    }
  if (choice.kind === 'url')
    return { facilitator: withBreaker(createHttpFacilitator({ baseUrl: choice.url, log, metrics }), ports) }
  const chains = ground.networks.map((network) => {
    const wallets = openSettlementWallets(config, ports, ground, network.caip2, owner, stops)
    const rpc = ground.rpcs.get(network.caip2)
    if (!rpc) throw new Error(`${network.caip2} is not open`)
    return { network, rpc, wallets }
  })
  const facilitator = createLocalFacilitator({ chains, clock, log, metrics, factories: config.erc6492Factories })
  const recoverLanes = async () => {
    for (const chain of chains) await chain.wallets.recoverLanes()
  }
  await recoverLanes()
  return {
    facilitator,
    local: {
      facilitator,
      wallets: chains.flatMap((chain) => chain.wallets.addresses),
      senders: chains.map((chain) => chain.wallets),
      recoverLanes,
    },
  }
}
