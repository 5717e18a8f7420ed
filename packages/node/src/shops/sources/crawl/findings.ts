import type { ContentSignals, Robots } from './robots.ts'
import type { RslTerms } from './rsl.ts'
import type { TdmRule } from './tdm.ts'

/** One file or property of a host: what was asked, what came. */
export type Finding<Extra = unknown> = {
  url: string
  /** `unknown`: the outside failed, this says nothing. */
  status: 'present' | 'absent' | 'broken' | 'unknown'
  sha256: string | undefined
  checkedAt: string
  note?: string | undefined
} & Extra

/** What the crawler learnt of a host besides its pages. Stored as JSON. */
export type HostFindings = {
  discoveredAt?: string
  robots?: Finding<{ rules?: Robots; signals?: ContentSignals }>
  sitemap?: Finding<{ pages: number }>
  llms?: Finding
  feed?: Finding<{ pages: number }>
  rsl?: Finding<{
    prohibits?: readonly string[]
    permits?: readonly string[]
    payments?: readonly string[]
    /** Each licence with the content it is for. */
    licences?: readonly RslTerms[]
  }>
  /** TDMRep: parts of the site whose text and data mining is reserved (`/.well-known/tdmrep.json`). */
  tdm?: Finding<{ rules: readonly TdmRule[] }>
  tls?: Finding
  caa?: Finding
  dnssec?: Finding
  citations?: { checked: number; resolved: number; checkedAt: string; samples: readonly { url: string; ok: boolean }[] }
}
