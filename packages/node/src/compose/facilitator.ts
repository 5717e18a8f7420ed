import type { Address } from '@assay/protocol/address'
import type { Facilitator, Owner } from '@assay/till'
import type { SettlementWallets } from '@assay/till/chain/wallet'
import { type LocalChain, openFacilitators } from '@assay/till/facilitators'
import type { Config } from '../config/load-config.ts'
import type { Ground, Ports, Stops } from './ground.ts'
import { openSettlementWallets } from './settlement-wallets.ts'

export type OpenedFacilitator = {
  facilitator: Facilitator
  /** Where this process settles with wallets of its own. */
  local?: {
    facilitator: Facilitator
    wallets: readonly Address[]
    senders: readonly SettlementWallets[]
    recoverLanes(): Promise<void>
  }
}

/** Anyone who moves the money, as configured. */
export async function openFacilitator(
  config: Config,
  ports: Ports,
  ground: Ground,
  owner: Owner,
  stops: Stops,
): Promise<OpenedFacilitator> {
  const chains: LocalChain[] = []
  const recoverLanes = async () => {
    for (const chain of chains) await chain.wallets.recoverLanes()
  }
  const { facilitator, local } = await openFacilitators(config.facilitators, {
    ...ports,
    sql: ground.store.database,
    factories: config.erc6492Factories,
    localChains: async () => {
      for (const network of ground.networks) {
        const rpc = ground.rpcs.get(network.caip2)
        if (!rpc) throw new Error(`${network.caip2} is not open`)
        const wallets = openSettlementWallets(config, ports, ground, network.caip2, owner, stops)
        chains.push({ network, rpc, wallets })
      }
      await recoverLanes()
      return chains
    },
  })
  if (!local) return { facilitator }
  const senders = chains.map(({ wallets }) => wallets)
  const wallets = senders.flatMap(({ addresses }) => addresses)
  return { facilitator, local: { facilitator: local, wallets, senders, recoverLanes } }
}
