import type { AnswerContent } from '@assay/till'
import type { JwsPort } from '@assay/till/internal'
import type { Clock } from '@assay/till/kernel/clock'
import type { Ids } from '@assay/till/kernel/ids'
import type { Log } from '@assay/till/kernel/log'
import type { Database } from '@assay/till/store/database'
import type { Since } from '../../http/index.ts'
import type { SubscriptionStreams } from '../subscriptions/index.ts'
import type { FileCache } from './as-of/file-cache.ts'
import type { FetchPlan } from './ingest/fetch-plan.ts'
import type { LastFetches } from './ingest/fetch-state.ts'
import type { LicencePolicy } from './licences/licence-policy.ts'
import type { SnapshotCache } from './snapshots/snapshot-cache.ts'
import type { SymbolTable } from './store/symbol-table.ts'

/** Made answers of the newest snapshots. */
export type AnswerMemo = {
  get(key: string): (AnswerContent & { body: Uint8Array | string }) | undefined
  put(key: string, answer: AnswerContent & { body: Uint8Array | string }): void
}

/** What the routes of this shop work with. */
export type MatrixDeps = {
  database: Database
  clock: Clock
  ids: Ids
  log: Log
  jws: JwsPort
  baseUrl: string
  fileCache: FileCache
  symbols: SymbolTable
  snapshotCache: SnapshotCache
  licences: LicencePolicy
  /** What the node fetches by itself, and how the last fetches went. */
  plans: readonly FetchPlan[]
  looks: LastFetches
  memo: AnswerMemo
  delayMs: number
  prices: { liveMicro: bigint; vipMicro: bigint }
  network: string
  streams: SubscriptionStreams
  stopping: AbortSignal
  since: Since
}
