import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Sql } from '@assay/till/store/database'
import type { SourceDeps } from '../deps.ts'
import type { ReadPage } from '../page/read-page.ts'
import { forbidsReading } from '../pages/page-terms.ts'
import { requestScore } from '../register/ask-for-work.ts'
import { discoverHost, type FoundPage, readRsl, rulesOf } from './discover-host.ts'
import type { HostFindings } from './findings.ts'
import { followSite } from './follow-site.ts'
import { pageBudget } from './page-budget.ts'
import { createPoliteHost, type RateLimitedHost } from './rate-limited-host.ts'
import { readFeed } from './read-feed.ts'
import { isAllowed, type Robots } from './robots.ts'
import {
  addPages,
  archivedPages,
  duePages,
  type HostLease,
  keepHost,
  type PageResult,
  releaseHost,
  renumberPages,
  soonestMs,
  storePages,
} from './store.ts'
import { visitPage } from './visit-page.ts'

export type CrawlWindow = { signal: AbortSignal; stopAtMs: number }

const flushEvery = 10

/** Works on one leased host until nothing is due, its budget is used, or the window closes; then gives it back. */
export async function crawlHost(deps: SourceDeps, lease: HostLease, window: CrawlWindow): Promise<number> {
  const { database, clock } = deps
  const host = createPoliteHost(deps, window.signal)
  const visit = await prepare(deps, lease, host, window)
  if (!visit) {
    // The next process need not wait for the lease of a process that was stopped.
    if (window.signal.aborted)
      await releaseHost(database, clock, lease, { ...unchanged(lease), dueAt: new Date(clock.nowMs()) })
    return 0
  }
  const { pages, outcome } = visit.reachable
    ? await visitPages(deps, lease, host, visit, window)
    : { pages: 0, outcome: 'silent' as const }
  const failures = outcome === 'silent' ? lease.failures + 1 : 0
  if (outcome === 'finished') await checkCitations(deps, lease, visit.findings, window.signal)
  const soonest = outcome === 'finished' ? await soonestMs(database, lease.source.domain) : undefined
  await releaseHost(database, clock, lease, {
    finished: outcome !== 'unfinished',
    dueAt: new Date(clock.nowMs() + (soonest ?? pauseMs(deps, outcome, failures))),
    failures,
    problem: outcome !== 'silent' ? null : visit.reachable ? silentNote : (visit.findings.robots?.note ?? silentNote),
  })
  if (pages > 0 || outcome !== 'unfinished') await requestScore(database, lease.source.domain, clock)
  return pages
}

const unchanged = ({ failures }: HostLease) => ({ finished: false, failures, problem: null })

type Outcome = 'finished' | 'unfinished' | 'silent'

const silentNote = 'the host does not answer'

/** Until the host is checked again; one that does not answer is asked ever more rarely. */
function pauseMs(deps: SourceDeps, outcome: Outcome, failures: number): number {
  const { refetchMs } = deps.settings.crawl
  if (outcome === 'unfinished') return 0
  return outcome === 'finished' ? refetchMs : Math.min(refetchMs * 7, 60_000 * 2 ** Math.min(failures, 12))
}

type Prepared = { findings: HostFindings; robots: Robots; reachable: boolean }

/** A crawl that was interrupted goes on with what it had learnt. */
async function prepare(
  deps: SourceDeps,
  lease: HostLease,
  host: RateLimitedHost,
  window: CrawlWindow,
): Promise<Prepared | undefined> {
  const known = lease.findings
  const robots = known.robots && rulesOf(known.robots)
  if (robots && known.discoveredAt !== undefined && Date.parse(known.discoveredAt) >= lease.startedAt.getTime()) {
    host.slowTo(robots.crawlDelaySeconds)
    host.rest()
    return { findings: known, robots, reachable: known.robots?.status !== 'unknown' }
  }
  const wanted = { listings: lease.listings, wanted: pageBudget(lease.source, deps.settings.crawl.pagesMax) }
  const found = await discoverHost(deps, lease.source, host, window.signal, wanted)
  if (window.signal.aborted) return undefined
  // An outage takes nothing away; otherwise what is no longer there is no longer known.
  const kept = found.reachable ? (known.citations ? { citations: known.citations } : {}) : known
  const findings: HostFindings = { ...kept, ...found.findings }
  // A licence that only a page names is kept until that page is read again.
  if (found.reachable && !findings.rsl && known.rsl) {
    const again = await readRsl(deps, lease.source, host, [known.rsl.url], () => toRfc3339(deps.clock.nowMs()))
    if (again?.status === 'present') findings.rsl = again
    else if (again?.status === 'unknown') findings.rsl = known.rsl
  }
  const visit = { findings, robots: found.robots, reachable: found.reachable }
  const archived = visit.reachable ? await archivedPages(deps.database, lease.source.domain) : []
  // What an archive holds and robots.txt forbids today is not offered, not even until it is asked for.
  const refused = archived.flatMap((page) => {
    const reason = whyNot(lease, visit.robots, page.url)
    return reason === undefined ? [] : [forbidden(deps, page, reason)]
  })
  return (await storeBatch(deps, lease, visit, { results: refused, found: found.pages, renumber: archived.length > 0 }))
    ? visit
    : undefined
}

async function addFound(
  deps: SourceDeps,
  sql: Sql,
  lease: HostLease,
  robots: Robots,
  pages: readonly FoundPage[],
): Promise<void> {
  const allowed = pages.filter((page) => whyNot(lease, robots, page.url) === undefined)
  const budget = pageBudget(lease.source, deps.settings.crawl.pagesMax)
  await addPages(sql, lease.source.domain, allowed, lease.startedAt, budget)
}

// One page may hang; a host that hangs again and again must not hold a place among those at work.
const silentPagesMax = 3

async function visitPages(
  deps: SourceDeps,
  lease: HostLease,
  host: RateLimitedHost,
  visit: Prepared,
  window: CrawlWindow,
): Promise<{ pages: number; outcome: Outcome }> {
  const { domain } = lease.source
  let pages = 0
  let silent = 0
  for (;;) {
    const due = await duePages(deps.database, domain, lease.startedAt, flushEvery)
    const results: PageResult[] = []
    const allowed = due.filter((page) => {
      const reason = whyNot(lease, visit.robots, page.url)
      if (reason !== undefined) results.push(forbidden(deps, page, reason))
      return reason === undefined
    })
    const found: FoundPage[] = []
    for (const page of allowed) {
      if (window.signal.aborted || silent >= silentPagesMax) break
      if (deps.clock.monotonicMs() >= window.stopAtMs) break
      const { result, read, answered, leadsTo } = await visitPage(deps, host, page, domain)
      if (window.signal.aborted) break
      if (leadsTo !== undefined && page.url === `${lease.source.origin}/`) await followSite(deps, lease.source, leadsTo)
      results.push(result)
      pages += 1
      silent = answered ? 0 : silent + 1
      found.push(...(read?.links ?? []).map((url) => ({ url, foundBy: 'link' as const })))
      if (read) found.push(...(await followHints(deps, lease, host, visit, read)))
    }
    if (!(await storeBatch(deps, lease, visit, { results, found }))) return { pages, outcome: 'unfinished' }
    if (silent >= silentPagesMax) return { pages, outcome: 'silent' }
    if (results.length < due.length) return { pages, outcome: 'unfinished' }
    if (due.length === 0) return { pages, outcome: 'finished' }
  }
}

/** What was read, and the pages that it leads to. `renumber`: terms of pages that are already stored may have changed. */
type PageBatch = { results: readonly PageResult[]; found: readonly FoundPage[]; renumber?: boolean }

/** All of it or, when the lease is lost, nothing: the process that has the host now may have read its pages later. */
async function storeBatch(
  deps: SourceDeps,
  lease: HostLease,
  visit: Prepared,
  { results, found, renumber = false }: PageBatch,
): Promise<boolean> {
  const { database, clock, settings } = deps
  return database.transaction(async (tx) => {
    if (!(await keepHost(tx, clock, lease, settings.crawl.leaseMs, visit.findings))) return false
    await storePages(tx, lease.source.domain, results)
    if (renumber || termsText(visit.findings) !== termsText(lease.findings))
      await renumberPages(tx, lease.source.domain)
    lease.findings = visit.findings
    await addFound(deps, tx, lease, visit.robots, found)
    return true
  })
}

/** What decides whether pages may be offered, to be compared. */
const termsText = ({ robots, tdm, rsl }: HostFindings) =>
  JSON.stringify([robots?.status, robots?.signals, tdm?.rules, rsl?.status, rsl?.licences])

/** Feeds and licences that a page names: read once for the host, when nothing better was found before. */
async function followHints(
  deps: SourceDeps,
  lease: HostLease,
  host: RateLimitedHost,
  visit: Prepared,
  read: ReadPage,
): Promise<FoundPage[]> {
  const at = () => toRfc3339(deps.clock.nowMs())
  const licences = read.facts.licences.filter((licence) => licence.kind === 'rsl').map((licence) => licence.url)
  const feeds = read.feeds.filter((url) => isAllowed(visit.robots, url))
  const feed =
    visit.findings.feed === undefined && feeds.length > 0 ? await readFeed(lease.source, host, feeds, at) : undefined
  if (feed) visit.findings = { ...visit.findings, feed: feed.finding }
  const named = [...licences, ...(feed?.licences ?? [])]
  if (visit.findings.rsl === undefined && named.length > 0) {
    const rsl = await readRsl(deps, lease.source, host, named, at)
    if (rsl) visit.findings = { ...visit.findings, rsl }
  }
  return (feed?.pages ?? []).map(({ url }) => ({ url, foundBy: 'feed' as const }))
}

/** Undefined when a page may be read, otherwise who forbids it. */
function whyNot({ source }: HostLease, robots: Robots, url: string): string | undefined {
  if (!isAllowed(robots, url)) return 'robots.txt forbids it'
  return forbidsReading(url, source.creator_terms) ? 'the terms of its creator forbid it' : undefined
}

function forbidden(deps: SourceDeps, page: { url: string }, problem: string): PageResult {
  const now = deps.clock.nowMs()
  return {
    url: page.url,
    fetchedAt: new Date(now),
    dueAt: new Date(now + deps.settings.crawl.refetchMs),
    attempts: 0,
    againSeconds: null,
    httpStatus: null,
    etag: null,
    lastModified: null,
    problem,
    forbidden: true,
    read: undefined,
  }
}

const samplesMax = 5

/** A few of the addresses the pages cite: citations that lead nowhere are worth less. One request to each host. */
async function checkCitations(
  deps: SourceDeps,
  lease: HostLease,
  findings: HostFindings,
  signal: AbortSignal,
): Promise<void> {
  const { rows } = await deps.database.query<{ url: string }>(
    `select distinct on (split_part(c.url, '/', 3)) c.url
     from crawl_page p, jsonb_array_elements_text(p.facts->'citations') as c(url)
     where p.domain = $1 and c.url ~ '^https?://' limit $2`,
    [lease.source.domain, samplesMax],
  )
  const samples = await Promise.all(
    rows.map(async ({ url }) => {
      const answer = await deps.outbound.fetch(url, {
        maxBytes: 4_096,
        onTooLarge: 'cut',
        totalMs: deps.settings.crawl.requestMs / 2,
        redirectsMax: 3,
        plainHttp: true,
        signal,
      })
      return { url, answer }
    }),
  )
  // A host that does not answer us today is not evidence of a false citation; one that has no such page is.
  const heard = samples.flatMap(({ url, answer }) =>
    answer.status === 'ok' && answer.httpStatus < 500 ? [{ url, ok: answer.httpStatus < 400 }] : [],
  )
  findings.citations = {
    checked: heard.length,
    resolved: heard.filter(({ ok }) => ok).length,
    checkedAt: toRfc3339(deps.clock.nowMs()),
    samples: heard,
  }
  await keepHost(deps.database, deps.clock, lease, deps.settings.crawl.leaseMs, findings)
}
