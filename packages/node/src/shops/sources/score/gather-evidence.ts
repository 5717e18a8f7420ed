import { toHex } from '@assay/protocol/bytes'
import type { Clock } from '@assay/till/kernel/clock'
import type { Sql } from '@assay/till/store/database'
import type { HostFindings } from '../crawl/findings.ts'
import type { PageFacts } from '../page/read-page.ts'
import type { SourceState } from '../register/records.ts'
import type { SourceEvidence } from './evidence.ts'

type Row = {
  domain: string
  state: SourceState
  wanted_at: Date | null
  findings: HostFindings | null
  pending: boolean
  upheld: bigint
  checked: bigint
  resolving: bigint
  mass: number | null
  stake: number | null
  mean_mass: number | null
  quoted: number
  position: bigint | null
  list_name: string | null
  list_as_of: string | null
  list_entries: bigint | null
}

export type GatheredEvidence = { evidence: SourceEvidence; wantedAt: Date | null }

const pagesMax = 200

/** Everything the score of some sources rests on, in two questions however many they are. */
export async function gatherEvidence(sql: Sql, clock: Clock, domains: readonly string[]): Promise<GatheredEvidence[]> {
  const { rows } = await sql.query<Row>(sourceQuery, [domains])
  const pages = await sql.query<{
    domain: string
    url: string
    facts: PageFacts
    content_sha256: Buffer
    fetched_at: Date
  }>(
    `select domain, url, facts, content_sha256, fetched_at from (
       select *, row_number() over (partition by domain order by fetched_at desc, url) as place
       from crawl_page where domain = any($1) and facts is not null) as newest where place <= $2`,
    [domains, pagesMax],
  )
  const byDomain = groupByDomain(pages.rows)
  return rows.map((row) => ({
    wantedAt: row.wanted_at,
    evidence: evidenceOf(row, byDomain.get(row.domain) ?? [], clock.nowMs()),
  }))
}

function groupByDomain<T extends { domain: string }>(rows: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const row of rows) groups.set(row.domain, [...(groups.get(row.domain) ?? []), row])
  return groups
}

const sourceQuery = `
  select s.domain, s.state, s.score_wanted_at as wanted_at, h.findings,
    exists (select from source_dispute d where d.domain = s.domain and d.state = 'pending') as pending,
    (select count(*) from source_dispute d where d.domain = s.domain and d.state = 'upheld' and d.kind <> 'ownership') as upheld,
    coalesce(v.checked, 0) as checked, coalesce(v.resolving, 0) as resolving,
    t.mass, t.stake, (select mean_mass from trust_scale) as mean_mass,
    coalesce(q.quoted, 0) as quoted, r.position, l.name as list_name, l.as_of as list_as_of, l.entries as list_entries
  from source s
  left join crawl_host h on h.domain = s.domain
  left join lateral (
    select count(*) as checked, count(*) filter (where p.http_status in (200, 304)) as resolving
    from crawl_page p where p.domain = s.domain and p.fetched_at > p.first_read_at) v on true
  left join lateral (
    select sum(a.weight)::float8 as quoted from citation_edge e join citing_agent a on a.agent = e.agent
    where e.domain = s.domain and e.quotes > 0 and a.weight > 0) q on true
  left join source_trust t on t.domain = s.domain
  left join external_rank r on r.domain = s.registrable
  left join external_rank_list l on true
  where s.domain = any($1)`

function evidenceOf(
  row: Row,
  pages: readonly { url: string; facts: PageFacts; content_sha256: Buffer; fetched_at: Date }[],
  nowMs: number,
): SourceEvidence {
  return {
    domain: row.domain,
    nowMs,
    state: row.state,
    disputePending: row.pending,
    listed: row.state === 'refused',
    findings: row.findings ?? {},
    pages: pages.map((page) => ({
      url: page.url,
      facts: page.facts,
      contentSha256: toHex(page.content_sha256),
      fetchedAt: page.fetched_at.toISOString(),
    })),
    stability: { checked: Number(row.checked), resolving: Number(row.resolving) },
    usage: {
      stake: row.quoted,
      upheldDisputes: Number(row.upheld),
    },
    market: { mass: row.mass ?? 0, meanMass: row.mean_mass ?? 1, stake: row.stake ?? 0 },
    external:
      row.position === null || row.list_entries === null
        ? undefined
        : {
            position: Number(row.position),
            entries: Number(row.list_entries),
            list: row.list_name ?? '',
            asOf: row.list_as_of ?? '',
          },
  }
}
