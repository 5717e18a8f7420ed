import type { Sql } from '@assay/till/store/database'

export type CorpusStatus = {
  domains: { known: number; visited: number; waiting: number; being_read: number; unreadable: number }
  pages: { known: number; read: number; due: number; by_origin: Record<string, number> }
  last_hour: number
  oldest_read_at: string | null
  newest_read_at: string | null
  problems: { problem: string; pages: number; example: string }[]
}

/** How far the crawler is, for the operator. */
export async function readCorpusStatus(sql: Sql, nowMs: number): Promise<CorpusStatus> {
  const now = new Date(nowMs)
  const [hosts, pages, origins, problems] = await Promise.all([
    sql.query<{ known: bigint; visited: bigint; waiting: bigint; busy: bigint; unreadable: bigint }>(
      `select count(*) as known, count(*) filter (where finished_at is not null) as visited,
         count(*) filter (where due_at <= $1 and (leased_until is null or leased_until <= $1)) as waiting,
         count(*) filter (where leased_until > $1) as busy,
         count(*) filter (where finished_at is not null and not exists (
           select from crawl_page p where p.domain = h.domain and p.facts is not null)) as unreadable
       from crawl_host h`,
      [now],
    ),
    sql.query<{ known: bigint; read: bigint; due: bigint; recent: bigint; oldest: Date | null; newest: Date | null }>(
      `select count(*) as known, count(*) filter (where facts is not null) as read, count(*) filter (where due_at <= $1) as due,
         count(*) filter (where fetched_at > $1 - interval '1 hour') as recent,
         min(fetched_at) filter (where facts is not null) as oldest, max(fetched_at) filter (where facts is not null) as newest
       from crawl_page`,
      [now],
    ),
    sql.query<{ found_by: string; pages: bigint }>(
      'select found_by, count(*) as pages from crawl_page where facts is not null group by found_by order by found_by',
    ),
    sql.query<{ problem: string; pages: bigint; example: string }>(
      `select problem, count(*) as pages, min(url) as example from crawl_page where problem is not null
       group by problem order by count(*) desc, problem limit 10`,
    ),
  ])
  const [host, page] = [hosts.rows[0], pages.rows[0]]
  return {
    domains: {
      known: Number(host?.known ?? 0),
      visited: Number(host?.visited ?? 0),
      waiting: Number(host?.waiting ?? 0),
      being_read: Number(host?.busy ?? 0),
      unreadable: Number(host?.unreadable ?? 0),
    },
    pages: {
      known: Number(page?.known ?? 0),
      read: Number(page?.read ?? 0),
      due: Number(page?.due ?? 0),
      by_origin: Object.fromEntries(origins.rows.map((row) => [row.found_by, Number(row.pages)])),
    },
    last_hour: Number(page?.recent ?? 0),
    oldest_read_at: page?.oldest?.toISOString() ?? null,
    newest_read_at: page?.newest?.toISOString() ?? null,
    problems: problems.rows.map((row) => ({ ...row, pages: Number(row.pages) })),
  }
}
