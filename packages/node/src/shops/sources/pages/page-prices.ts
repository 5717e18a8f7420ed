import type { Sql } from '@assay/till/store/database'
import { twinOf } from '../crawl/same-site.ts'
import type { CreatorRule } from '../terms/creator-rules.ts'
import type { SiteTerms } from './page-terms.ts'

export type PageAt = { url: string; domain: string; registrable: string }

/** What counts for prices of pages now: the licence of their own host, and what the source that is paid for them set. */
export async function siteTerms(
  sql: Sql,
  hosts: readonly { domain: string; payee: string }[],
): Promise<Pick<SiteTerms, 'own' | 'rsl'>[]> {
  const namesOf = ({ payee, domain }: { payee: string; domain: string }) => [payee, domain, twinOf(domain)]
  const { rows } = await sql.query<{ domain: string; own: CreatorRule[] | null; rsl: SiteTerms['rsl'] | null }>({
    name: 'source_page_prices',
    text: `select s.domain, s.creator_terms as own, h.findings->'rsl' as rsl
      from source s left join crawl_host h on h.domain = s.domain where s.domain = any($1)`,
    values: [[...new Set(hosts.flatMap(namesOf))]],
  })
  const known = new Map(rows.map((row) => [row.domain, row]))
  return hosts.map((host) => {
    const own = namesOf(host).map((name) => known.get(name)?.own)
    const rsl = [host.domain, twinOf(host.domain)].map((name) => known.get(name)?.rsl)
    return { own: own.find(Boolean) ?? null, rsl: rsl.find(Boolean) ?? null }
  })
}
