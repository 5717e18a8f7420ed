import type { OutboundOk } from '../../../outbound/index.ts'
import type { SourceDeps } from '../deps.ts'
import { readDocument } from '../page/read-document.ts'
import type { PageProblem, ReadPage } from '../page/read-page.ts'
import { nextVisitMs } from './page-budget.ts'
import type { RateLimitedHost } from './rate-limited-host.ts'
import { twinOf } from './same-site.ts'
import type { DuePage, PageResult } from './store.ts'

/** `leadsTo`: another host, which answered in place of this one. */
export type Visit = { result: PageResult; read: ReadPage | undefined; answered: boolean; leadsTo?: string }

const documentTypes = ['text/html', 'application/xhtml+xml', 'text/plain', 'text/markdown', 'application/pdf']

/** Asks for one page, with the marks of last time, and reads it. */
export async function visitPage(
  deps: SourceDeps,
  host: RateLimitedHost,
  page: DuePage,
  domain: string,
): Promise<Visit> {
  const answer = await host.ask(page.url, {
    accept: documentTypes,
    headers: {
      accept: 'text/html,application/xhtml+xml,application/pdf;q=0.8,text/plain;q=0.8',
      ...(page.etag === null ? {} : { 'if-none-match': page.etag }),
      ...(page.last_modified === null ? {} : { 'if-modified-since': page.last_modified }),
    },
  })
  const now = deps.clock.nowMs()
  const base = {
    url: page.url,
    fetchedAt: new Date(now),
    etag: page.etag,
    lastModified: page.last_modified,
    againSeconds: page.again_seconds,
    read: undefined,
  }
  const later = (attempts: number) => new Date(now + deps.settings.crawl.refetchMs * 2 ** Math.min(attempts, 5))
  if (answer.status !== 'ok') {
    const attempts = page.attempts + 1
    return {
      read: undefined,
      answered: answer.status === 'refused',
      result: { ...base, attempts, dueAt: later(attempts), httpStatus: null, problem: answer.detail },
    }
  }
  const marks = { etag: header(answer.headers.get('etag')), lastModified: header(answer.headers.get('last-modified')) }
  const done = { ...base, ...marks, attempts: 0, dueAt: later(0), httpStatus: answer.httpStatus }
  const again = (changed: boolean) => rhythm(deps, page, changed, now)
  if (answer.httpStatus === 304)
    return {
      read: undefined,
      answered: true,
      result: {
        ...done,
        ...again(false),
        etag: marks.etag ?? page.etag,
        lastModified: marks.lastModified ?? page.last_modified,
        problem: null,
      },
    }
  if (answer.httpStatus !== 200)
    return {
      read: undefined,
      answered: true,
      // What is not there is asked for ever more rarely.
      result: {
        ...done,
        attempts: page.attempts + 1,
        dueAt: later(page.attempts + 1),
        problem: `answers ${answer.httpStatus}`,
      },
    }
  // What another host says is not this source's.
  const landed = new URL(answer.url)
  if (landed.hostname !== domain && landed.hostname !== twinOf(domain))
    return {
      read: undefined,
      answered: true,
      leadsTo: landed.hostname,
      result: { ...done, problem: `leads to ${landed.hostname}` },
    }
  if (landed.hostname !== domain) landed.host = new URL(page.url).host
  const read = await readRendered(deps, answer, landed.href, domain)
  if ('problem' in read) return { read: undefined, answered: true, result: { ...done, problem: read.detail } }
  return {
    read,
    answered: true,
    result: {
      ...done,
      ...again(page.text_sha256 !== null && !page.text_sha256.equals(read.textSha256)),
      problem: null,
      read: {
        contentSha256: read.contentSha256,
        textSha256: read.textSha256,
        facts: read.facts,
        title: read.facts.title,
        text: read.text,
      },
    },
  }
}

const needsScript = (read: ReadPage | PageProblem): read is ReadPage => 'facts' in read && read.facts.needsScript

/** A page that only scripts can fill says nothing that could be quoted, unless a browser is there to run them. */
async function readRendered(
  deps: SourceDeps,
  answer: OutboundOk,
  url: string,
  domain: string,
): Promise<ReadPage | PageProblem> {
  const read = await readDocument(deps.readPdf, answer, url, twinOf(domain))
  if (!needsScript(read)) return read
  const missing = (detail: string): PageProblem => ({ problem: 'needs_script', detail })
  if (!deps.renderPage) return missing('needs JavaScript: without it the page has no text')
  const rendered = await deps.renderPage(url)
  if ('problem' in rendered) return missing(`needs JavaScript: ${rendered.problem}`)
  const headers = new Map([...answer.headers, ['content-type', 'text/html; charset=utf-8'] as const])
  const again = await readDocument(
    deps.readPdf,
    { ...answer, bytes: Buffer.from(rendered.html), headers },
    url,
    twinOf(domain),
  )
  return needsScript(again) ? missing('needs JavaScript, and has no text after it ran') : again
}

/** When the page is read again, by whether it had changed. */
function rhythm(deps: SourceDeps, page: DuePage, changed: boolean, nowMs: number) {
  const defaultMs = deps.settings.crawl.refetchMs
  const ms = nextVisitMs(page.again_seconds === null ? undefined : page.again_seconds * 1_000, changed, defaultMs)
  return {
    dueAt: new Date(nowMs + ms),
    againSeconds: ms >= defaultMs ? null : Math.max(1, Math.round(ms / 1_000)),
  }
}

const header = (value: string | undefined) => (value === undefined || value.length > 500 ? null : value)
