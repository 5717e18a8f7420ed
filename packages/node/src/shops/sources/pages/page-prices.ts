import type { Sql } from '@assay/till/store/database'
import { twinOf } from '../crawl/same-site.ts'
import type { CreatorRule } from '../terms/creator-rules.ts'
import { decidePrices, type PagePrices, type SiteTerms } from './page-terms.ts'

export type PageAt = { url: string; domain: string; registrable: string }

/** What using pages costs now: by the licence of their own host, and by what the source that is paid for them set. */
export async function pagePrices(sql: Sql, pages: readonly (PageAt & { payee: string })[]): Promise<PagePrices[]> {
  const namesOf = ({ payee, domain }: { payee: string; domain: string }) => [payee, domain, twinOf(domain)]
  const { rows } = await sql.query<{ domain: string; own: CreatorRule[] | null; rsl: SiteTerms['rsl'] | null }>({
    name: 'source_page_prices',
    text: `select s.domain, s.creator_terms as own, h.findings->'rsl' as rsl
      from source s left join crawl_host h on h.domain = s.domain where s.domain = any($1)`,
    values: [[...new Set(pages.flatMap(namesOf))]],
  })
  const known = new Map(rows.map((row) => [row.domain, row]))
  return pages.map((page) => {
    const own = namesOf(page).map((name) => known.get(name)?.own)
    const rsl = [page.domain, twinOf(page.domain)].map((name) => known.get(name)?.rsl)
    return decidePrices(page.url, { own: own.find(Boolean) ?? null, rsl: rsl.find(Boolean) ?? null })
  })
}
