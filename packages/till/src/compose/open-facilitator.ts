import type { Address } from '@assay/protocol/address'
import type { KeySource, SettlementWallets } from '../chain/wallet/index.ts'
import type { Facilitator } from '../contract/facilitator.ts'
import { type FacilitatorChoice, type LocalChain, openFacilitators } from '../facilitators/index.ts'
import type { Owner } from '../gate/owner.ts'
import type { Composition } from './open-infrastructure.ts'
import { openSettlementWallets } from './settlement-wallets.ts'

export type FacilitatorSettings = {
  /** In the order in which they are tried. */
  facilitators: readonly FacilitatorChoice[]
  /** Keys of the wallets by which this process settles, or sends payouts. */
  settlerKeys: readonly KeySource[]
  erc6492Factories: readonly Address[]
}

export type OpenedFacilitator = {
  facilitator: Facilitator
  /** Where this process settles with its own wallets. */
  local?: {
    facilitator: Facilitator
    wallets: readonly Address[]
    senders: readonly SettlementWallets[]
    recoverWallets(): Promise<void>
  }
}

/** Opens the configured facilitators. */
export async function openFacilitator(
  settings: FacilitatorSettings,
  composition: Composition,
  owner: Owner,
): Promise<OpenedFacilitator> {
  const { ports, infrastructure } = composition
  const chains: LocalChain[] = []
  const recoverWallets = async () => {
    for (const chain of chains) await chain.wallets.recoverWallets()
  }
  const { facilitator, local } = await openFacilitators(settings.facilitators, {
    ...ports,
    sql: infrastructure.store.database,
    factories: settings.erc6492Factories,
    localChains: async () => {
      for (const network of infrastructure.networks) {
        const rpc = infrastructure.rpcs.get(network.caip2)
        if (!rpc) throw new Error(`${network.caip2} is not open`)
        const wallets = openSettlementWallets(settings.settlerKeys, composition, network.caip2, owner)
        chains.push({ network, rpc, wallets })
      }
      await recoverWallets()
      return chains
    },
  })
  if (!local) return { facilitator }
  const senders = chains.map(({ wallets }) => wallets)
  const wallets = senders.flatMap(({ addresses }) => addresses)
  return { facilitator, local: { facilitator: local, wallets, senders, recoverWallets } }
}
