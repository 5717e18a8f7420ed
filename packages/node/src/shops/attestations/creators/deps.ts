import type { Address } from '@assay/protocol/address'
import type { Payees } from '@assay/till'
import type { ChainPort, Network, Rpc } from '@assay/till/chain'
import type { OwnContract } from '@assay/till/chain/own-contract'
import type { SettlementWallets } from '@assay/till/chain/wallet'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { CustodyKey, PayoutDeps } from '@assay/till/payouts'
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
  payouts(): PayoutDeps | undefined
}

/** One chain on which creators are paid. */
export type CreatorChain = {
  network: Network
  chain: ChainPort
  rpc: Rpc
  key: CustodyKey
  wallets: SettlementWallets
  distributor: OwnContract
}

/** Chains where this process can pay: the others accrue. */
export function creatorChains({ payouts, payees, terms }: CreatorDeps): CreatorChain[] {
  return (payouts()?.chains ?? []).flatMap(({ chain, rpc, key, wallets }) => {
    const { network } = chain
    const custody = payees.custody[network.caip2] as Address
    if (!key || !wallets) return []
    return [{ network, chain, rpc, key, wallets, distributor: distributorFor(network, custody, terms) }]
  })
}
