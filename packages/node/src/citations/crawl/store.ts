import type { Clock } from '../../kernel/clock.ts'
import type { Sql } from '../../store/database.ts'
import type { PageFacts } from '../page/read-page.ts'
import type { SourceRow } from '../sources/records.ts'
import type { FoundPage } from './discover-host.ts'
import type { HostFindings } from './findings.ts'

export type HostLease = { source: SourceRow; token: bigint; startedAt: Date; findings: HostFindings; failures: number }

/** Hosts that are due and that nobody works on; taken for `leaseMs`. Any number of workers may ask. */
export async function takeHosts(sql: Sql, clock: Clock, count: number, leaseMs: number): Promise<HostLease[]> {
  const now = new Date(clock.nowMs())
  const { rows } = await sql.query<
    SourceRow & { lease_token: bigint; started_at: Date; findings: HostFindings; failures: number }
  >(
    `with due as (
       select domain from crawl_host
       where due_at <= $1 and (leased_until is null or leased_until <= $1)
       order by due_at limit $2 for update skip locked),
     taken as (
       update crawl_host h set leased_until = $3, lease_token = lease_token + 1,
         started_at = case when h.started_at is null or h.finished_at >= h.started_at then $1 else h.started_at end
       from due where h.domain = due.domain
       returning h.domain, h.lease_token, h.started_at, h.findings, h.failures)
     select s.*, t.lease_token, t.started_at, t.findings, t.failures from taken t join source s on s.domain = t.domain`,
    [now, count, new Date(now.getTime() + leaseMs)],
  )
  return rows.map(({ lease_token, started_at, findings, failures, ...source }) => ({
    source,
    token: lease_token,
    startedAt: started_at,
    findings,
    failures,
  }))
}

/** False when somebody else has taken the host since: what was learnt is then theirs to learn again. */
export async function keepHost(
  sql: Sql,
  clock: Clock,
  lease: HostLease,
  leaseMs: number,
  findings: HostFindings,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    'update crawl_host set leased_until = $3, findings = $4 where domain = $1 and lease_token = $2',
    [lease.source.domain, lease.token, new Date(clock.nowMs() + leaseMs), findings],
  )
  return rowCount === 1
}

export type HostEnd = { dueAt: Date; finished: boolean; failures: number; problem: string | null }

export async function releaseHost(sql: Sql, clock: Clock, lease: HostLease, end: HostEnd): Promise<void> {
  await sql.query(
    `update crawl_host set leased_until = null, due_at = $3, failures = $4, last_problem = $5,
       finished_at = case when $6 then $7 else finished_at end
     where domain = $1 and lease_token = $2`,
    [lease.source.domain, lease.token, end.dueAt, end.failures, end.problem, end.finished, new Date(clock.nowMs())],
  )
}

export async function addPages(
  sql: Sql,
  domain: string,
  pages: readonly FoundPage[],
  dueAt: Date,
  pagesMax: number,
): Promise<void> {
  if (pages.length === 0) return
  // The budget counts what is known, so that an endless calendar cannot fill the table.
  await sql.query(
    `insert into crawl_page (domain, url, found_by, due_at)
     select $1, url, found_by, $4
     from (select distinct on (url) url, found_by, ord from unnest($2::text[], $3::text[]) with ordinality as t(url, found_by, ord) order by url, ord) as found
     where not exists (select from crawl_page p where p.domain = $1 and p.url = found.url)
     order by ord
     limit greatest(0, $5 - (select count(*) from crawl_page where domain = $1))
     on conflict do nothing`,
    [domain, pages.map((page) => page.url), pages.map((page) => page.foundBy), dueAt, pagesMax],
  )
}

export type DuePage = {
  url: string
  etag: string | null
  last_modified: string | null
  attempts: number
  http_status: number | null
}

const foundByOrder = `array_position(array['home', 'llms', 'sitemap', 'feed', 'link'], found_by)`

export async function duePages(sql: Sql, domain: string, startedAt: Date, limit: number): Promise<DuePage[]> {
  const { rows } = await sql.query<DuePage>(
    `select url, etag, last_modified, attempts, http_status from crawl_page
     where domain = $1 and due_at <= $2 order by ${foundByOrder}, url limit $3`,
    [domain, startedAt, limit],
  )
  return rows
}

export type PageResult = {
  url: string
  dueAt: Date
  fetchedAt: Date
  attempts: number
  httpStatus: number | null
  etag: string | null
  lastModified: string | null
  problem: string | null
  /** Undefined: what is stored stays. */
  read: { contentSha256: Uint8Array; textSha256: Uint8Array; facts: PageFacts; title: string; text: string } | undefined
}

/** One statement for pages and versions; a page whose text did not change gets no new version. */
export async function storePages(sql: Sql, domain: string, results: readonly PageResult[]): Promise<void> {
  if (results.length === 0) return
  const rows = results.map((result) => ({
    url: result.url,
    due_at: result.dueAt.toISOString(),
    fetched_at: result.fetchedAt.toISOString(),
    attempts: result.attempts,
    http_status: result.httpStatus,
    etag: result.etag,
    last_modified: result.lastModified,
    problem: result.problem,
    content_sha256: result.read ? Buffer.from(result.read.contentSha256).toString('hex') : null,
    text_sha256: result.read ? Buffer.from(result.read.textSha256).toString('hex') : null,
    facts: result.read?.facts ?? null,
    title: result.read?.title ?? null,
    text: result.read?.text ?? null,
  }))
  await sql.query(
    `with given as (
       select * from jsonb_to_recordset($2::jsonb) as t(url text, due_at timestamptz, fetched_at timestamptz, attempts integer,
         http_status integer, etag text, last_modified text, problem text, content_sha256 text, text_sha256 text,
         facts jsonb, title text, text text)),
     pages as (
       update crawl_page p set due_at = g.due_at,
         first_read_at = coalesce(p.first_read_at, case when g.facts is not null then g.fetched_at end), fetched_at = g.fetched_at, attempts = g.attempts,
         http_status = coalesce(g.http_status, p.http_status), etag = g.etag, last_modified = g.last_modified,
         problem = g.problem, content_sha256 = coalesce(decode(g.content_sha256, 'hex'), p.content_sha256),
         changed_at = case when g.text_sha256 is not null and decode(g.text_sha256, 'hex') is distinct from p.text_sha256
           then g.fetched_at else p.changed_at end,
         text_sha256 = coalesce(decode(g.text_sha256, 'hex'), p.text_sha256),
         facts = case when g.http_status = 304 or g.facts is not null then coalesce(g.facts, p.facts)
           when g.http_status is null then p.facts end
       from given g where p.domain = $1 and p.url = g.url returning p.url)
     insert into page_version (domain, url, text_sha256, content_sha256, title, text, fetched_at)
     select $1, g.url, decode(g.text_sha256, 'hex'), decode(g.content_sha256, 'hex'), g.title, g.text, g.fetched_at
     from given g join pages using (url) where g.text_sha256 is not null
     on conflict do nothing`,
    [domain, JSON.stringify(rows)],
  )
}
