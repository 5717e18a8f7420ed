import { toRfc3339 } from '../../kernel/clock.ts'
import type { SourceDeps } from '../deps.ts'
import { wantScore } from '../sources/ask-for-work.ts'
import { discoverHost, type FoundPage, readRsl } from './discover-host.ts'
import type { HostFindings } from './findings.ts'
import { createPoliteHost, type PoliteHost } from './polite-host.ts'
import { allowAll, isAllowed, type Robots } from './robots.ts'
import { addPages, duePages, type HostLease, keepHost, type PageResult, releaseHost, storePages } from './store.ts'
import { visitPage } from './visit-page.ts'

export type CrawlWindow = { signal: AbortSignal; stopAtMs: number }

const flushEvery = 10

/** Works on one leased host until nothing is due, its budget is used, or the window closes; then gives it back. */
export async function crawlHost(deps: SourceDeps, lease: HostLease, window: CrawlWindow): Promise<number> {
  const { database, clock } = deps
  const host = createPoliteHost(deps, window.signal)
  const visit = await prepare(deps, lease, host, window)
  if (!visit) return 0
  const { pages, outcome } = await visitPages(deps, lease, host, visit, window)
  const failures = visit.reachable ? 0 : lease.failures + 1
  const backoffMs = Math.min(deps.settings.crawl.againMs * 7, 60_000 * 2 ** Math.min(failures, 12))
  if (outcome === 'finished') await checkCitations(deps, lease, visit.findings)
  await releaseHost(database, clock, lease, {
    finished: outcome === 'finished',
    dueAt: new Date(
      clock.nowMs() + (outcome === 'unfinished' ? 0 : visit.reachable ? deps.settings.crawl.againMs : backoffMs),
    ),
    failures,
    problem: visit.reachable ? null : (visit.findings.robots?.note ?? 'the host cannot be reached'),
  })
  if (pages > 0 || outcome === 'finished') await wantScore(database, lease.source.domain, clock)
  return pages
}

type Prepared = { findings: HostFindings; robots: Robots; reachable: boolean }

/** A crawl that was interrupted goes on with what it had learnt. */
async function prepare(
  deps: SourceDeps,
  lease: HostLease,
  host: PoliteHost,
  window: CrawlWindow,
): Promise<Prepared | undefined> {
  const { database, clock, settings } = deps
  const known = lease.findings
  if (known.discoveredAt !== undefined && Date.parse(known.discoveredAt) >= lease.startedAt.getTime()) {
    const robots = known.robots?.rules ?? allowAll
    host.slowTo(robots.crawlDelaySeconds)
    return { findings: known, robots, reachable: known.robots?.status !== 'unknown' }
  }
  const found = await discoverHost(deps, lease.source, host, window.signal)
  if (window.signal.aborted) return undefined
  const findings = { ...known, ...found.findings }
  if (!(await keepHost(database, clock, lease, settings.crawl.leaseMs, findings))) return undefined
  await addFound(deps, lease, found.robots, found.pages)
  return { findings, robots: found.robots, reachable: found.reachable }
}

async function addFound(
  deps: SourceDeps,
  lease: HostLease,
  robots: Robots,
  pages: readonly FoundPage[],
): Promise<void> {
  const allowed = pages.filter((page) => isAllowed(robots, page.url))
  await addPages(deps.database, lease.source.domain, allowed, lease.startedAt, deps.settings.crawl.pagesMax)
}

async function visitPages(
  deps: SourceDeps,
  lease: HostLease,
  host: PoliteHost,
  visit: Prepared,
  window: CrawlWindow,
): Promise<{ pages: number; outcome: 'finished' | 'unfinished' }> {
  const { domain } = lease.source
  let pages = 0
  if (!visit.reachable) return { pages, outcome: 'finished' }
  for (;;) {
    const due = await duePages(deps.database, domain, lease.startedAt, flushEvery)
    const allowed = due.filter((page) => isAllowed(visit.robots, page.url))
    const results: PageResult[] = due.filter((page) => !allowed.includes(page)).map((page) => forbidden(deps, page))
    const found: FoundPage[] = []
    for (const page of allowed) {
      if (window.signal.aborted || deps.clock.monotonicMs() >= window.stopAtMs) break
      const { result, read } = await visitPage(deps, host, page, domain)
      if (window.signal.aborted) break
      results.push(result)
      pages += 1
      found.push(...(read?.links ?? []).map((url) => ({ url, foundBy: 'link' as const })))
      if (visit.findings.rsl === undefined) await followRsl(deps, lease, host, visit, read?.facts.licences ?? [])
    }
    await storePages(deps.database, domain, results)
    await addFound(deps, lease, visit.robots, found)
    if (!(await keepHost(deps.database, deps.clock, lease, deps.settings.crawl.leaseMs, visit.findings)))
      return { pages, outcome: 'unfinished' }
    if (results.length < due.length) return { pages, outcome: 'unfinished' }
    if (due.length === 0) return { pages, outcome: 'finished' }
  }
}

/** A licence named by a page and not by robots.txt. */
async function followRsl(
  deps: SourceDeps,
  lease: HostLease,
  host: PoliteHost,
  visit: Prepared,
  licences: readonly { kind: string; url: string }[],
): Promise<void> {
  const urls = licences.filter((licence) => licence.kind === 'rsl').map((licence) => licence.url)
  if (urls.length === 0) return
  const rsl = await readRsl(lease.source, host, urls, () => toRfc3339(deps.clock.nowMs()))
  if (rsl) visit.findings.rsl = rsl
}

function forbidden(deps: SourceDeps, page: { url: string }): PageResult {
  const now = deps.clock.nowMs()
  return {
    url: page.url,
    fetchedAt: new Date(now),
    dueAt: new Date(now + deps.settings.crawl.againMs),
    attempts: 0,
    httpStatus: null,
    etag: null,
    lastModified: null,
    problem: 'robots.txt forbids it',
    read: undefined,
  }
}

const samplesMax = 5

/** A few of the addresses the pages cite: citations that lead nowhere are worth less. One request to each host. */
async function checkCitations(deps: SourceDeps, lease: HostLease, findings: HostFindings): Promise<void> {
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
