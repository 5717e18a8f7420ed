import type { Clock } from '@assay/till/kernel/clock'
import type { Ids } from '@assay/till/kernel/ids'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { ProofDeps } from '@assay/till/proofs'
import type { Database } from '@assay/till/store/database'
import type { Outbound } from '../../../outbound/index.ts'
import type { TransparencyLog } from '../../../tlog/index.ts'
import type { FindMatched } from '../../ports.ts'
import type { DomainRules } from '../../sources/domain/index.ts'
import type { ReadTerms } from './attest-price.ts'
import type { CitationAttester } from './attester.ts'
import type { TermsChanges } from './keep-terms.ts'
import type { PageThreads } from './page-threads-adapter.ts'
import type { Snapshots } from './snapshots.ts'

export type AttestSettings = {
  /** A page read this long ago is still what it says. */
  snapshotMs: number
  /** Shares of unproven sources wait this long. */
  waitMs: number
  /** Between a proof and the release of what waited for it. */
  releaseMs: number
  /** How long a suspicious share is held. */
  challengeMs: number
}

export type AttestDeps = {
  database: Database
  clock: Clock
  ids: Ids
  log: Log
  metrics: Metrics
  outbound: Outbound
  proofs: ProofDeps
  domains: DomainRules
  snapshots: Snapshots
  threads: PageThreads
  tree: TransparencyLog
  attester: CitationAttester
  apiUrl: string
  chainId: number
  network: string
  royalty: { recipient: string; bps: number; licence: string }
  settings: AttestSettings
  findMatched: FindMatched
  /** As they are when asked: for sales. */
  currentTerms: ReadTerms
  /** For quotes. */
  keptTerms: ReadTerms
  termsChanges: TermsChanges
}
