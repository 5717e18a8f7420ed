import type { Clock } from '@assay/till/kernel/clock'
import type { Database, Sql } from '@assay/till/store/database'
import type { PageFacts } from '../page/read-page.ts'
import { pageChangeLock, pageStoredChannel } from '../pages/page-changes.ts'
import type { SourceRow } from '../register/records.ts'
import type { FoundPage } from './discover-host.ts'
import type { HostFindings } from './findings.ts'

export type HostLease = {
  source: SourceRow
  token: bigint
  startedAt: Date
  findings: HostFindings
  failures: number
  listings: readonly string[]
}

// Anyone who takes hosts does it alone, for a moment: two workers could otherwise take two hosts of one domain.
const turnLock = '1634952033, 51'

const free = (host: string) => `${host}.due_at <= $1 and (${host}.leased_until is null or ${host}.leased_until <= $1)`

export const crawlDueSql = `exists (select from crawl_host h where ${free('h')})`

/**
 * Hosts that are due and that nobody works on; taken for `leaseMs`. Any number of workers may ask. Of one registrable
 * domain at most one host is out at a time, so that a domain with a wildcard has no thousand visitors.
 */
export async function takeHosts(
  database: Database,
  clock: Clock,
  count: number,
  leaseMs: number,
): Promise<HostLease[]> {
  const now = new Date(clock.nowMs())
  // Mostly there is none: that takes one statement, and neither a transaction nor the lock.
  const { rowCount } = await database.query(`select from crawl_host h where ${free('h')} limit 1`, [now])
  if (rowCount === 0) return []
  const { rows } = await database.transaction(async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(${turnLock})`)
    return tx.query<
      SourceRow & {
        lease_token: bigint
        started_at: Date
        findings: HostFindings
        failures: number
        listings: string[]
      }
    >(takeStatement, [now, count, new Date(now.getTime() + leaseMs)])
  })
  return rows.map(({ lease_token, started_at, findings, failures, listings, ...source }) => ({
    source,
    token: lease_token,
    startedAt: started_at,
    findings,
    failures,
    listings,
  }))
}

const takeStatement = `
  with due as (
    select h.domain, h.due_at, s.registrable from crawl_host h join source s on s.domain = h.domain
    where ${free('h')} and s.state <> 'refused' and not exists (
      select from source o join crawl_host b on b.domain = o.domain
      where o.registrable = s.registrable and b.leased_until > $1)
    order by h.due_at limit $2),
  turns as (select distinct on (registrable) domain from due order by registrable, due_at),
  taken as (
    update crawl_host h set leased_until = $3, lease_token = lease_token + 1,
      started_at = case when h.started_at is null or h.finished_at >= h.started_at then $1 else h.started_at end
    from turns where h.domain = turns.domain and ${free('h')}
    returning h.domain, h.lease_token, h.started_at, h.findings, h.failures, h.listings)
  select s.*, t.lease_token, t.started_at, t.findings, t.failures, t.listings from taken t join source s on s.domain = t.domain`

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
    `update crawl_host set leased_until = null, failures = $4, last_problem = $5,
       due_at = case when $6 and wanted_at > started_at then $7::timestamptz else $3::timestamptz end,
       finished_at = case when $6 then $7::timestamptz else finished_at end
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

/** What a site allows has changed: readers of pages look at all of them again. */
export async function renumberPages(sql: Sql, domain: string): Promise<void> {
  await sql.query(
    `with fence as materialized (select pg_advisory_xact_lock_shared(${pageChangeLock})),
     numbered as (update crawl_page p set change_seq = nextval('page_change') from fence
       where p.domain = $1 and p.facts is not null returning p.url)
     select pg_notify('${pageStoredChannel}', $1) from numbered limit 1`,
    [domain],
  )
}

export type DuePage = {
  url: string
  etag: string | null
  last_modified: string | null
  attempts: number
  http_status: number | null
  text_sha256: Buffer | null
  again_seconds: number | null
}

const foundByOrder = `array_position(array['home', 'operator', 'llms', 'sitemap', 'feed', 'archive', 'link'], found_by)`

export async function duePages(sql: Sql, domain: string, startedAt: Date, limit: number): Promise<DuePage[]> {
  const { rows } = await sql.query<DuePage>(
    `select url, etag, last_modified, attempts, http_status, text_sha256, again_seconds from crawl_page
     where domain = $1 and due_at <= $2 order by ${foundByOrder}, url limit $3`,
    [domain, startedAt, limit],
  )
  return rows
}

/** Pages of an archive that the host itself has not been asked for yet. */
export async function archivedPages(sql: Sql, domain: string): Promise<{ url: string }[]> {
  const { rows } = await sql.query<{ url: string }>(
    `select url from crawl_page where domain = $1 and found_by = 'archive' and http_status is null and facts is not null`,
    [domain],
  )
  return rows
}

/** The shortest time until a page of the host is read again; undefined where all wait the usual time. */
export async function soonestMs(sql: Sql, domain: string): Promise<number | undefined> {
  const { rows } = await sql.query<{ seconds: number | null }>(
    'select min(again_seconds) as seconds from crawl_page where domain = $1 and facts is not null',
    [domain],
  )
  const seconds = rows[0]?.seconds
  return seconds === null || seconds === undefined ? undefined : seconds * 1_000
}

export type PageResult = {
  url: string
  dueAt: Date
  fetchedAt: Date
  attempts: number
  /** Until the next visit by how often the page changes; null: the usual time. */
  againSeconds: number | null
  httpStatus: number | null
  etag: string | null
  lastModified: string | null
  problem: string | null
  /** robots.txt has come to forbid it: what was read before is no longer offered. */
  forbidden?: boolean
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
    again_seconds: result.againSeconds,
    http_status: result.httpStatus,
    etag: result.etag,
    last_modified: result.lastModified,
    problem: result.problem,
    forbidden: result.forbidden ?? false,
    content_sha256: result.read ? Buffer.from(result.read.contentSha256).toString('hex') : null,
    text_sha256: result.read ? Buffer.from(result.read.textSha256).toString('hex') : null,
    facts: result.read?.facts ?? null,
    title: result.read?.title ?? null,
    text: result.read?.text ?? null,
  }))
  await sql.query(storeStatement, [domain, JSON.stringify(rows)])
}

// A page that says something else at every visit must not fill the disk; of a source that was cited everything is kept.
const versionsMax = 20

// The lock is taken before the first number is drawn, so that readers know up to which number nothing is missing.
const storeStatement = `
  with fence as materialized (select pg_advisory_xact_lock_shared(${pageChangeLock})),
  given as (
    select t.* from fence, jsonb_to_recordset($2::jsonb) as t(url text, due_at timestamptz, fetched_at timestamptz, attempts integer, again_seconds integer,
      http_status integer, etag text, last_modified text, problem text, forbidden boolean, content_sha256 text, text_sha256 text,
      facts jsonb, title text, text text)),
  merged as (
    select g.*, p.text_sha256 as old_text, p.facts as old_facts, coalesce(decode(g.text_sha256, 'hex'), p.text_sha256) as new_text,
      -- An answer decides; silence leaves what was read before.
      case when g.facts is not null then g.facts when g.http_status = 304 or (g.http_status is null and not g.forbidden) then p.facts end as new_facts
    from given g join crawl_page p on p.domain = $1 and p.url = g.url),
  pages as (
    update crawl_page p set due_at = m.due_at, fetched_at = m.fetched_at, attempts = m.attempts, again_seconds = m.again_seconds,
      first_read_at = coalesce(p.first_read_at, case when m.facts is not null then m.fetched_at end),
      http_status = coalesce(m.http_status, p.http_status), etag = m.etag, last_modified = m.last_modified, problem = m.problem,
      content_sha256 = coalesce(decode(m.content_sha256, 'hex'), p.content_sha256), text_sha256 = m.new_text, facts = m.new_facts,
      changed_at = case when m.new_text is distinct from m.old_text then m.fetched_at else p.changed_at end,
      change_seq = case when m.new_text is distinct from m.old_text or m.new_facts is distinct from m.old_facts
        then nextval('page_change') else p.change_seq end
    from merged m where p.domain = $1 and p.url = m.url returning p.url),
  versions as (
    insert into page_version (domain, url, text_sha256, content_sha256, title, text, fetched_at)
    select $1, g.url, decode(g.text_sha256, 'hex'), decode(g.content_sha256, 'hex'), g.title, g.text, g.fetched_at
    from given g join pages using (url) where g.text_sha256 is not null
    on conflict do nothing),
  pruned as (
    delete from page_version v using (
      select o.url, o.text_sha256, row_number() over (partition by o.url order by o.fetched_at desc) as place
      from page_version o where o.domain = $1 and o.url in (select url from given where text_sha256 is not null)) as ranked
    where ranked.place >= ${versionsMax} and not exists (select from source_usage u where u.domain = $1 and (u.citations > 0 or u.earned_micro > 0))
      and v.domain = $1 and v.url = ranked.url and v.text_sha256 = ranked.text_sha256
      and not exists (select from given g where g.url = v.url and decode(g.text_sha256, 'hex') = v.text_sha256))
  select pg_notify('${pageStoredChannel}', $1)`
