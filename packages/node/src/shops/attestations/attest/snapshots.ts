import type { Clock } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import type { Database } from '@assay/till/store/database'
import type { Outbound, OutboundOk, OutboundOutcome } from '../../../outbound/index.ts'
import type { MayRead } from '../../sources/index.ts'
import type { RenderPage } from '../../sources/page/index.ts'
import { attestationProblems } from '../problems.ts'
import type { HostTurns } from './host-turns.ts'
import type { PageThreads } from './page-threads-adapter.ts'
import type { CitedPage } from './read-cited.ts'
import type { SourceUrl } from './source-url.ts'
import { isStored, type ReservedSnapshot, reserveSnapshot } from './store-snapshots.ts'

/** A page as it was at a moment. */
export type Snapshot = {
  finalUrl: string
  /** What the page names as its own address. */
  canonical: string | null
  httpStatus: number
  fetchedAt: Date
  contentSha256: Buffer
  textSha256: Buffer
  title: string
  text: string
  /** The first licence the page names. */
  licence: string | null
}

export type Snapshots = {
  of(page: SourceUrl): Promise<Snapshot>
  /** What a sale has to store with its commit; undefined where the database has this reading already. */
  toStore(page: SourceUrl, snapshot: Snapshot): Promise<ReservedSnapshot | undefined>
}

export type SnapshotDeps = {
  database: Database
  outbound: Outbound
  clock: Clock
  mayRead: MayRead
  turns: HostTurns
  threads: PageThreads
  renderPage?: RenderPage | undefined
  freshMs: number
}

const keptCharactersMax = 32_000_000

/** What the crawler or an earlier citation read recently; otherwise the page is fetched now. Writes nothing. */
export function createSnapshots(deps: SnapshotDeps): Snapshots {
  const kept = new Map<string, Snapshot>()
  const inProgress = new Map<string, Promise<Snapshot>>()
  let keptCharacters = 0
  const isFresh = (snapshot: Snapshot) => deps.clock.nowMs() - snapshot.fetchedAt.getTime() < deps.freshMs
  const keep = (url: string, snapshot: Snapshot) => {
    kept.set(url, snapshot)
    keptCharacters += snapshot.text.length
    for (const [oldest, { text }] of kept) {
      if (keptCharacters <= keptCharactersMax) break
      kept.delete(oldest)
      keptCharacters -= text.length
    }
    return snapshot
  }
  const stored = new WeakSet<Snapshot>()
  const load = async (page: SourceUrl) => {
    const known = await readStored(deps, page)
    if (!known) return fetchPage(deps, page)
    stored.add(known)
    return known
  }
  return {
    of: async (page) => {
      const known = kept.get(page.url)
      if (known && isFresh(known)) return known
      if (known) {
        kept.delete(page.url)
        keptCharacters -= known.text.length
      }
      // Many citations of one page at once ask for it once; no caller's leaving ends it, for the others wait for it too.
      const loading =
        inProgress.get(page.url) ??
        load(page)
          .then((snapshot) => keep(page.url, snapshot))
          .finally(() => inProgress.delete(page.url))
      inProgress.set(page.url, loading)
      return loading
    },
    toStore: async (page, snapshot) => {
      if (stored.has(snapshot)) return undefined
      if (!(await isStored(deps.database, page.url, snapshot))) return reserveSnapshot(page.url, snapshot)
      stored.add(snapshot)
      return undefined
    },
  }
}

async function readStored(deps: SnapshotDeps, page: SourceUrl): Promise<Snapshot | undefined> {
  const { rows } = await deps.database.query<Snapshot>({
    name: 'cited_snapshot',
    text: `select c.final_url as "finalUrl", c.canonical, c.http_status as "httpStatus", c.fetched_at as "fetchedAt",
        c.content_sha256 as "contentSha256", c.text_sha256 as "textSha256", c.title, t.text, c.licence
      from cited_page c join cited_text t on t.text_sha256 = c.text_sha256 where c.url = $1 and c.fetched_at > $3
      union all
      select p.url, p.facts->>'canonical', 200, p.fetched_at, v.content_sha256, v.text_sha256, v.title, v.text, p.facts->'licences'->0->>'url'
      from crawl_page p join page_version v on v.domain = p.domain and v.url = p.url and v.text_sha256 = p.text_sha256
      where p.domain = $2 and p.url = $1 and p.fetched_at > $3 and p.problem is null
      order by "fetchedAt" desc limit 1`,
    values: [page.url, page.domain, new Date(deps.clock.nowMs() - deps.freshMs)],
  })
  return rows[0]
}

const unreadable = (detail: string) => new Problem(attestationProblems.page_unreadable, { detail })

const redirectsMax = 3

async function fetchPage(deps: SnapshotDeps, page: SourceUrl): Promise<Snapshot> {
  const asked: string[] = []
  for (let url = page.url; ; ) {
    const answer = await askHost(deps, url)
    if (answer.status === 'ok' && answer.httpStatus === 200) return readAnswer(deps, answer)
    if (answer.status === 'ok') throw unreadable(`The page answers ${answer.httpStatus}.`)
    if (answer.reason !== 'too_many_redirects') throw unreadable(`The page could not be fetched: ${answer.detail}.`)
    asked.push(url)
    const problem = redirectProblem(asked, answer.url)
    if (problem !== undefined) throw unreadable(`The page could not be fetched: ${problem}.`)
    url = answer.url
  }
}

/** No redirect is followed here: the host it leads to has its own robots.txt and its own turns. */
function askHost(deps: SnapshotDeps, url: string): Promise<OutboundOutcome> {
  return deps.turns.take(new URL(url).hostname, async () => {
    const forbidden = await deps.mayRead(url)
    // A site that asks not to be read is not read for a citation either.
    if (forbidden !== undefined) throw unreadable(`The page may not be read: ${forbidden}.`)
    return deps.outbound.fetch(url, {
      maxBytes: 5 * 1024 * 1024,
      totalMs: 10_000,
      accept: ['text/html', 'application/xhtml+xml', 'text/plain'],
      headers: { accept: 'text/html,application/xhtml+xml,text/plain' },
      redirectsMax: 0,
      plainHttp: true,
    })
  })
}

function redirectProblem(asked: readonly string[], target: string): string | undefined {
  if (!URL.canParse(target)) return 'it redirects to what is not a URL'
  // A longer one could not be stored, which would come out only after the payment.
  if (new URL(target).href.length > 2_048) return 'it redirects to an address of more than 2048 characters'
  if (asked.length > redirectsMax) return `more than ${redirectsMax} redirects`
  if (asked.includes(target)) return 'the redirects lead back'
  if (asked.at(-1)?.startsWith('https:') && !target.startsWith('https:')) return 'https redirects to http'
  return undefined
}

async function readAnswer(deps: SnapshotDeps, answer: OutboundOk): Promise<Snapshot> {
  const fetchedAt = new Date(deps.clock.nowMs())
  const { needsScript: _, ...read } = await readWithScripts(deps, answer)
  return {
    ...read,
    finalUrl: answer.url,
    httpStatus: answer.httpStatus,
    fetchedAt,
    contentSha256: Buffer.from(read.contentSha256),
    textSha256: Buffer.from(read.textSha256),
  }
}

/** As the crawler has it: a page that only scripts can fill is run by the operator's browser, or cannot be cited. */
async function readWithScripts(deps: SnapshotDeps, answer: OutboundOk): Promise<CitedPage> {
  const read = await readBytes(deps, answer)
  if (!read.needsScript) return read
  const rendered = deps.renderPage ? await deps.renderPage(answer.url) : { problem: 'without it the page has no text' }
  if ('problem' in rendered) throw unreadable(`The page needs JavaScript: ${rendered.problem}.`)
  const headers = new Map([...answer.headers, ['content-type', 'text/html; charset=utf-8'] as const])
  const again = await readBytes(deps, { ...answer, bytes: Buffer.from(rendered.html), headers })
  if (again.needsScript) throw unreadable('The page needs JavaScript, and has no text after it ran.')
  return again
}

async function readBytes({ threads }: SnapshotDeps, { bytes, url, headers }: OutboundOk): Promise<CitedPage> {
  const read = await threads.read(bytes, url, headers)
  if ('problem' in read) throw unreadable(`The page could not be read: ${read.detail}.`)
  return read
}
