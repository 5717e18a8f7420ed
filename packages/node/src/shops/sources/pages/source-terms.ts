import type { Sql } from '@assay/till/store/database'
import type { HostFindings } from '../crawl/findings.ts'
import type { SourceState } from '../register/records.ts'

export type SourceLicence = {
  kind: string
  name: string | null
  url: string
  permits: readonly string[]
  prohibits: readonly string[]
  payment: readonly string[]
}

/** What counts of a source when one of its pages is offered or cited. */
export type SourceTerms = {
  domain: string
  state: SourceState
  citeScore: number | null
  confidence: number | null
  licence: SourceLicence | null
}

/** A licence for the whole site goes before one that a page names. */
export function licenceOf(
  rsl: HostFindings['rsl'],
  named: { name: string | null; url: string | null } | undefined,
): SourceLicence | null {
  if (rsl?.status === 'present')
    return {
      kind: 'rsl',
      name: null,
      url: rsl.url,
      permits: rsl.permits ?? [],
      prohibits: rsl.prohibits ?? [],
      payment: rsl.payments ?? [],
    }
  if (!named?.url) return null
  const kind = named.name === null ? 'custom' : 'named'
  return { kind, name: named.name, url: named.url, permits: [], prohibits: [], payment: [] }
}

export async function readSourceTerms(sql: Sql, domains: readonly string[]): Promise<Map<string, SourceTerms>> {
  const { rows } = await sql.query<{
    domain: string
    state: SourceState
    cite_score: number | null
    confidence: number | null
    rsl: HostFindings['rsl'] | null
    licence: string | null
    licence_url: string | null
  }>(
    `select s.domain, s.state, s.cite_score, s.confidence, h.findings->'rsl' as rsl, l.licence->>'name' as licence, l.licence->>'url' as licence_url
     from source s left join crawl_host h on h.domain = s.domain
     left join lateral (
       select p.facts->'licences'->0 as licence from crawl_page p
       where p.domain = s.domain and jsonb_array_length(p.facts->'licences') > 0 order by p.url limit 1) l on true
     where s.domain = any($1)`,
    [domains],
  )
  return new Map(
    rows.map((row) => [
      row.domain,
      {
        domain: row.domain,
        state: row.state,
        citeScore: row.cite_score,
        confidence: row.confidence,
        licence: licenceOf(row.rsl ?? undefined, { name: row.licence, url: row.licence_url }),
      },
    ]),
  )
}
