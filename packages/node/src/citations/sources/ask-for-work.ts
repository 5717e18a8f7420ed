import type { Clock } from '../../kernel/clock.ts'
import type { Sql } from '../../store/database.ts'

/** All pages of the host are looked at again as soon as somebody is free, unless that was done a moment ago. */
export async function wantCrawl(sql: Sql, domain: string, clock: Clock, pauseMs = 0): Promise<void> {
  const now = new Date(clock.nowMs())
  const { rowCount } = await sql.query(
    `update crawl_host set due_at = least(due_at, $2), failures = 0
     where domain = $1 and (finished_at is null or finished_at <= $3)`,
    [domain, now, new Date(now.getTime() - pauseMs)],
  )
  if (rowCount === 1)
    await sql.query('update crawl_page set due_at = $2 where domain = $1 and due_at > $2', [domain, now])
}

export async function wantScore(sql: Sql, domain: string, clock: Clock): Promise<void> {
  await sql.query('update source set score_wanted_at = coalesce(score_wanted_at, $2) where domain = $1', [
    domain,
    new Date(clock.nowMs()),
  ])
}
