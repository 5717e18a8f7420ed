import type { Address } from '../../kernel/address.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Rng } from '../../kernel/random.ts'
import type { JwsPort } from '../../payments/index.ts'
import type { Database, Sql } from '../../store/database.ts'
import type { Classifier } from './classify.ts'
import type { ClusterBook } from './clusters.ts'
import type { IntentSettings } from './settings.ts'

/** What other shops know of the wallets that asked. */
export type Standing = {
  /** The purse behind a wallet; one never seen is its own. */
  fundingClusters(sql: Sql, wallets: readonly Address[]): Promise<Map<Address, string>>
  activeBonds(
    sql: Sql,
    wallets: readonly Address[] | 'all',
    atMs: number,
  ): Promise<Map<Address, { micro: bigint; lockedUntilMs: number }>>
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
  book: ClusterBook
  classifier: Classifier
  standing: Standing
}
