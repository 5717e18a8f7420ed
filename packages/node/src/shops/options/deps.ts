import type { Address } from '@assay/protocol/address'
import type { AssetId } from '@assay/protocol/asset'
import type { Micro } from '@assay/protocol/money'
import type { JwsPort } from '@assay/till/internal'
import type { Clock } from '@assay/till/kernel/clock'
import type { Ids } from '@assay/till/kernel/ids'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Database, Sql } from '@assay/till/store/database'
import type { PublishedDemand } from '../ports.ts'
import type { OptionSettings } from './settings.ts'

export type OptionDeps = {
  database: Database
  clock: Clock
  ids: Ids
  log: Log
  metrics: Metrics
  jws: JwsPort
  settings: OptionSettings
  demand: PublishedDemand
  /** Where premiums and collateral are paid: the one chain of the exchange. */
  network: string
  usdc: AssetId
  /** Stands for the operator's vault wherever a writer is named. */
  vaultWallet: Address
  /** What the custody wallet holds beyond everybody's money, so that the vault never promises what is not there. */
  unreservedCustody?(): Promise<(sql: Sql) => Promise<Micro>>
  /** Throws a Problem when the operator has stopped trading. */
  requireTrading(): Promise<void>
  /** Beside the allowlist: the operator's own rule. Throws a Problem when it cannot be asked. */
  isEligible?(wallet: Address, action: 'buy' | 'write'): Promise<boolean>
}

/** Written as the symbol of its account: what the exchange signs says where it was signed. */
export const indexMethodName = 'assay.options.index/v1'
export const settlementMethodName = 'assay.options.settlement/v1'
