import type { Address } from '@assay/protocol/address'
import type { JwsPort } from '@assay/till/internal'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Rng } from '@assay/till/kernel/random'
import type { Database, Sql } from '@assay/till/store/database'
import type { Classifier } from './classify.ts'
import type { ClusterTable } from './clusters.ts'
import type { IntentSettings } from './settings.ts'

/** What other shops know of the wallets that asked. */
export type WalletFacts = {
  /** Wallets funded by one party share a cluster; one never seen is its own. */
  fundingClusters(sql: Sql, wallets: readonly Address[]): Promise<ReadonlyMap<Address, string>>
  activeBonds(
    sql: Sql,
    wallets: readonly Address[] | 'all',
    atMs: number,
  ): Promise<Map<Address, { micro: bigint; lockedUntilMs: number }>>
  /** Those who paid for figures of this time or for contracts on them: their own searches move none of it. */
  interested(sql: Sql, span: { startsAtMs: number; endsAtMs: number }): Promise<readonly Address[]>
}

export type IntentDeps = {
  database: Database
  clock: Clock
  rng: Rng
  log: Log
  metrics: Metrics
  jws: JwsPort
  apiUrl: string
  demo: boolean
  settings: IntentSettings
  clusterTable: ClusterTable
  classifier: Classifier
  walletFacts: WalletFacts
}
