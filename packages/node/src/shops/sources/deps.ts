import type { Address } from '@assay/protocol/address'
import type { Network } from '@assay/till/chain'
import type { JwsPort } from '@assay/till/internal'
import type { Clock } from '@assay/till/kernel/clock'
import type { Ids } from '@assay/till/kernel/ids'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Rng } from '@assay/till/kernel/random'
import type { ProofDeps } from '@assay/till/proofs'
import type { Database, Sql } from '@assay/till/store/database'
import type { Outbound, Resolver } from '../../outbound/index.ts'
import type { OwnCitations } from '../ports.ts'
import type { DomainRules } from './domain/canonical-domain.ts'
import type { ReadPdf } from './page/pdf-process-adapter.ts'
import type { RenderPage } from './page/render-page-adapter.ts'

/** What the use cases of sources work with; made once, when the shop opens. */
export type SourceDeps = {
  database: Database
  clock: Clock
  rng: Rng
  ids: Ids
  log: Log
  metrics: Metrics
  outbound: Outbound
  /** Without it a PDF is a page that cannot be read. */
  readPdf?: ReadPdf
  /** Off where the operator names no browser: then a page that needs scripts cannot be read. */
  renderPage?: RenderPage
  /** Two or more: one of them alone proves nothing about DNS. */
  resolvers: readonly Resolver[]
  proofs: ProofDeps
  jws: JwsPort
  /** Makes the values that claimants publish; one for all processes of a database. */
  claimSecret: Uint8Array
  apiUrl: string
  /** Where creators are paid. */
  base: Network
  domains: DomainRules
  settings: SourceSettings
  /** How often terms were set in this process: what was read before is outdated. */
  termsChanges: { count: number }
  /** Where bonds are known of; without it nobody has one but by the operator's own entry. */
  bonds?: ReadBonds
  /** What wallets spent, where somebody keeps it; see `walletSpending`. */
  spendingSql?: (wallet: string) => string
  /** Tells the shop of citations, where there is one, whose source was found to be whose. */
  markOwn?: OwnCitations
}

/** What wallets have at stake; `all` for every wallet that has something. */
export type ReadBonds = (
  sql: Sql,
  wallets: readonly Address[] | 'all',
  atMs: number,
) => Promise<ReadonlyMap<Address, { micro: bigint }>>

export type SourceSettings = {
  /** Between a second proof of a proven domain and its taking effect. */
  noticeMs: number
  /** Between the proof of a new payout wallet and its use. */
  walletDelayMs: number
  recheckMs: number
  retryCheckMs: number
  failuresUntilHeld: number
  /** From then on the domain is unproven again. */
  failuresUntilExpired: number
  /** A contest and the proofs in it are checked this often. */
  contestCheckMs: number
  /** The same domain is checked again no sooner than this. */
  checkPauseMs: number
  /** All pages of a domain are asked for again on request no sooner than this. */
  recrawlPauseMs: number
  crawl: CrawlSettings
}

export type CrawlSettings = {
  pagesMax: number
  /** Between two requests to a host, at least. */
  hostDelayMs: number
  delaySecondsMax: number
  pageBytesMax: number
  requestMs: number
  hostsAtOnce: number
  /** A host that is not done by then goes to the end of the queue. */
  turnMs: number
  refetchMs: number
  leaseMs: number
  /** Path of a Chromium for pages that need scripts. */
  renderer?: string
}

const day = 86_400_000

export const defaultSettings: SourceSettings = {
  noticeMs: 7 * day,
  walletDelayMs: 3 * day,
  recheckMs: 7 * day,
  retryCheckMs: day,
  failuresUntilHeld: 3,
  failuresUntilExpired: 30,
  contestCheckMs: day / 24,
  checkPauseMs: 2_000,
  recrawlPauseMs: 60_000,
  crawl: {
    pagesMax: 50,
    hostDelayMs: 500,
    delaySecondsMax: 30,
    pageBytesMax: 5 * 1024 * 1024,
    requestMs: 10_000,
    hostsAtOnce: 200,
    turnMs: 30_000,
    refetchMs: day,
    leaseMs: 60_000,
  },
}

/** Where a domain is asked: https, but for the demo's own names, which have no certificates. */
export function originOf(domains: DomainRules, domain: string): string {
  return `${domains.demoHosts.has(domain) ? 'http' : 'https'}://${domain}`
}
