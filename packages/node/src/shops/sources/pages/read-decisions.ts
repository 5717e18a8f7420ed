import type { Sql } from '@assay/till/store/database'
import type { PageFacts } from '../page/read-page.ts'
import { siteTermsColumn } from './indexed-page.ts'
import { decideTerms, type SiteTerms } from './page-terms.ts'

export type TermsDecisions = {
  offered: number
  link_only: number
  not_indexed: number
  /** Why, for those that are not offered in full. */
  reasons: { reason: string; pages: number; example: string }[]
}

/** How many pages of a source are offered, and what keeps the others: for its creator to see. */
export async function readDecisions(sql: Sql, domain: string): Promise<TermsDecisions> {
  const { rows } = await sql.query<{ url: string; facts: PageFacts; site_terms: SiteTerms }>(
    `select p.url, p.facts, ${siteTermsColumn} as site_terms from crawl_page p join source s on s.domain = p.domain left join crawl_host h on h.domain = p.domain
     where p.domain = $1 and p.facts is not null order by p.url limit 1000`,
    [domain],
  )
  const decided = rows.map(({ url, facts, site_terms }) => ({ url, ...decideTerms(url, facts, site_terms) }))
  const reasons = new Map<string, { reason: string; pages: number; example: string }>()
  for (const { url, reason } of decided) {
    if (reason === null) continue
    const known = reasons.get(reason) ?? { reason, pages: 0, example: url }
    reasons.set(reason, { ...known, pages: known.pages + 1 })
  }
  return {
    offered: decided.filter(({ index, snippet }) => index && snippet).length,
    link_only: decided.filter(({ index, snippet }) => index && !snippet).length,
    not_indexed: decided.filter(({ index }) => !index).length,
    reasons: [...reasons.values()],
  }
}
