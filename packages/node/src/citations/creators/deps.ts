import type { ChainPort, Network, Rpc } from '../../chain/index.ts'
import type { SettlementWallets } from '../../chain/wallet/index.ts'
import type { Address } from '../../kernel/address.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Payees } from '../../payments/index.ts'
import type { CustodyKey, PayoutDeps } from '../../payouts/index.ts'
import type { Database } from '../../store/database.ts'
import type { CreatorSettings } from '../market-settings.ts'
import { type DistributorTerms, distributorFor, type OwnContract } from './contracts.ts'
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
