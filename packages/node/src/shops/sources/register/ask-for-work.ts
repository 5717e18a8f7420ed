import type { Clock } from '@assay/till/kernel/clock'
import type { Sql } from '@assay/till/store/database'

/** All pages of the host are checked again, as soon as somebody is free and `pauseMs` after the last visit. */
export async function requestCrawl(sql: Sql, domain: string, clock: Clock, pauseMs = 0): Promise<void> {
  const now = new Date(clock.nowMs())
  const { rows } = await sql.query<{ wanted: Date }>(
    `update crawl_host set wanted_at = $2, failures = 0,
       due_at = least(due_at, greatest($2, coalesce(finished_at + make_interval(secs => $3), $2)))
     where domain = $1 returning due_at as wanted`,
    [domain, now, pauseMs / 1_000],
  )
  const due = rows[0] && new Date(Math.max(rows[0].wanted.getTime(), now.getTime()))
  if (due) await sql.query('update crawl_page set due_at = $2 where domain = $1 and due_at > $2', [domain, due])
}

export async function requestScore(sql: Sql, domain: string, clock: Clock): Promise<void> {
  await sql.query('update source set score_wanted_at = coalesce(score_wanted_at, $2) where domain = $1', [
    domain,
    new Date(clock.nowMs()),
  ])
}
