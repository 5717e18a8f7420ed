import type { SourceDeps } from '../deps.ts'
import { type ReadPage, readPage } from '../page/read-page.ts'
import type { PoliteHost } from './polite-host.ts'
import type { DuePage, PageResult } from './store.ts'

export type Visit = { result: PageResult; read: ReadPage | undefined; answered: boolean }

const htmlTypes = ['text/html', 'application/xhtml+xml', 'text/plain']

/** Asks for one page, with the marks of last time, and reads it. */
export async function visitPage(deps: SourceDeps, host: PoliteHost, page: DuePage, domain: string): Promise<Visit> {
  const answer = await host.ask(page.url, {
    accept: htmlTypes,
    headers: {
      accept: 'text/html,application/xhtml+xml',
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
    read: undefined,
  }
  const later = (attempts: number) => new Date(now + deps.settings.crawl.againMs * 2 ** Math.min(attempts, 5))
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
  if (answer.httpStatus === 304)
    return {
      read: undefined,
      answered: true,
      result: {
        ...done,
        etag: marks.etag ?? page.etag,
        lastModified: marks.lastModified ?? page.last_modified,
        problem: null,
      },
    }
  if (answer.httpStatus !== 200)
    return {
      read: undefined,
      answered: true,
      result: { ...done, dueAt: later(1), problem: `answers ${answer.httpStatus}` },
    }
  // What another host says is not this source's.
  const landed = new URL(answer.url)
  if (landed.hostname !== domain && !isSameSite(landed.hostname, domain))
    return { read: undefined, answered: true, result: { ...done, problem: `leads to ${landed.hostname}` } }
  const alias = landed.hostname === domain ? undefined : landed.host
  if (alias !== undefined) landed.host = new URL(page.url).host
  const read = readPage(answer.bytes, landed.href, answer.headers, alias)
  if ('problem' in read) return { read: undefined, answered: true, result: { ...done, problem: read.detail } }
  return {
    read,
    answered: true,
    result: {
      ...done,
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

/** Apex and www are one site: the same people answer for both. */
const isSameSite = (one: string, other: string) => one === `www.${other}` || other === `www.${one}`

const header = (value: string | undefined) => (value === undefined || value.length > 500 ? null : value)
