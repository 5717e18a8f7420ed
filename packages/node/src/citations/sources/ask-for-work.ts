import type { Clock } from '../../kernel/clock.ts'
import type { Sql } from '../../store/database.ts'

/** The crawler looks at the host as soon as somebody is free, unless it is being looked at. */
export async function wantCrawl(sql: Sql, domain: string, clock: Clock): Promise<void> {
  await sql.query('update crawl_host set due_at = least(due_at, $2), failures = 0 where domain = $1', [
    domain,
    new Date(clock.nowMs()),
  ])
}

export async function wantScore(sql: Sql, domain: string, clock: Clock): Promise<void> {
  await sql.query('update source set score_wanted_at = coalesce(score_wanted_at, $2) where domain = $1', [
    domain,
    new Date(clock.nowMs()),
  ])
}
