import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Sql } from '@assay/till/store/database'

/** What can be found, as a buyer sees it before paying. */
export type Coverage = {
  pages: number
  domains: number
  /** When the page that was read longest ago, and the newest, were read. */
  oldest_read_at: string | null
  newest_read_at: string | null
}

const keptMs = 60_000

/** The newest count, without waiting for it: one that is too old is counted again beside. */
export async function watchCoverage({
  sql,
  clock,
  log,
}: {
  sql: Sql
  clock: Clock
  log: Log
}): Promise<() => Coverage> {
  let known = await readCoverage(sql)
  let countedAtMs = clock.monotonicMs()
  return () => {
    if (clock.monotonicMs() - countedAtMs > keptMs) {
      countedAtMs = clock.monotonicMs()
      readCoverage(sql).then(
        (coverage) => {
          known = coverage
        },
        (error: unknown) => log.warn({ error: String(error) }, 'the pages that can be found could not be counted'),
      )
    }
    return known
  }
}

async function readCoverage(sql: Sql): Promise<Coverage> {
  const { rows } = await sql.query<{ pages: bigint; domains: bigint; oldest: Date | null; newest: Date | null }>(
    `select coalesce(sum(d.pages), 0)::bigint as pages, count(*) as domains, min(d.oldest) as oldest, max(d.newest) as newest
     from (select p.domain, count(*) as pages, min(p.fetched_at) as oldest, max(p.fetched_at) as newest
       from crawl_page p where p.text_sha256 is not null group by p.domain) d
     join source s on s.domain = d.domain where s.state <> 'refused'`,
  )
  const { pages = 0n, domains = 0n, oldest = null, newest = null } = rows[0] ?? {}
  return {
    pages: Number(pages),
    domains: Number(domains),
    oldest_read_at: oldest?.toISOString() ?? null,
    newest_read_at: newest?.toISOString() ?? null,
  }
}
