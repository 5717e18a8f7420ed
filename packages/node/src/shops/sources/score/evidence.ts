import type { HostFindings } from '../crawl/findings.ts'
import type { PageFacts } from '../page/read-page.ts'
import type { SourceState } from '../register/records.ts'

export type PageEvidence = { url: string; facts: PageFacts; contentSha256: string; fetchedAt: string }

/** All that a score may be based on, gathered before any of it is scored. */
export type SourceEvidence = {
  domain: string
  nowMs: number
  state: SourceState
  /** The last check found that the proof is gone, as against a site that could not be reached. */
  disputePending: boolean
  listed: boolean
  findings: HostFindings
  pages: readonly PageEvidence[]
  /** Addresses fetched more than once, and how many of them still answer. */
  stability: { checked: number; resolving: number }
  /** `stake`: the weights of those whose quotes were in its pages, each at most 1 by what it has at stake. */
  usage: { stake: number; upheldDisputes: number }
  /** `stake`: the weights of those who cited it, each at most 1 by what it has at stake. */
  market: { mass: number; meanMass: number; stake: number }
  external: { position: number; entries: number; list: string; asOf: string } | undefined
}
