import type { Address } from '@assay/protocol/address'
import type { ChainPort, Network, Rpc } from '@assay/till/chain'
import type { OwnContract } from '@assay/till/chain/own-contract'
import type { SettlementWallets } from '@assay/till/chain/wallet'
import type { Custody } from '@assay/till/compose'
import type { Payees } from '@assay/till/internal'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { CustodyKey } from '@assay/till/payouts'
import type { Database } from '@assay/till/store/database'
import type { CreatorSettings } from '../settings.ts'
import { type DistributorTerms, distributorFor } from './contracts.ts'
import type { MoverKey } from './mover-key.ts'

export type CreatorDeps = {
  database: Database
  clock: Clock
  log: Log
  metrics: Metrics
  settings: CreatorSettings
  challengeMs: number
  payees: Payees
  terms: DistributorTerms
  mover: MoverKey | undefined
  custody: Custody | undefined
}

/** One chain on which creators are paid, and a contract there that pays them. */
export type CreatorChain = {
  network: Network
  chain: ChainPort
  rpc: Rpc
  key: CustodyKey
  wallets: SettlementWallets
  contract: Address
  /** Whose money the contract pulls. */
  treasurer: Address
}

/** With the contract that follows from the settings of this process. */
export type OwnChain = CreatorChain & { distributor: OwnContract }

/** Chains where this process can pay: the others accrue. */
export function creatorChains({ custody, payees, terms }: CreatorDeps): OwnChain[] {
  return (custody?.chains ?? []).flatMap(({ chain, rpc, key, wallets }) => {
    const { network } = chain
    const treasurer = payees.custody[network.caip2] as Address
    if (!key || !wallets) return []
    const distributor = distributorFor(network, treasurer, terms)
    return [{ network, chain, rpc, key, wallets, distributor, contract: distributor.address, treasurer }]
  })
}
