import type { Clock } from '../../kernel/clock.ts'
import { Problem } from '../../kernel/problem.ts'
import type { Outbound, OutboundOk } from '../../outbound/index.ts'
import type { Database } from '../../store/database.ts'
import type { MayRead } from '../crawl/may-read.ts'
import { matchSuffix } from '../domain/public-suffix.ts'
import { readPage } from '../page/read-page.ts'
import type { SourceUrl } from './source-url.ts'

/** A page as it was at a moment. */
export type Snapshot = {
  finalUrl: string
  httpStatus: number
  fetchedAt: Date
  contentSha256: Buffer
  textSha256: Buffer
  title: string
  text: string
  /** The first licence the page names. */
  licence: string | null
}

export type Snapshots = { of(page: SourceUrl): Promise<Snapshot> }

export type SnapshotDeps = {
  database: Database
  outbound: Outbound
  clock: Clock
  mayRead: MayRead
  freshMs: number
}

const keptCharactersMax = 32_000_000

/** What was read a moment ago, by the crawler or for an earlier citation; otherwise the page is asked for now. */
export function createSnapshots(deps: SnapshotDeps): Snapshots {
  const kept = new Map<string, Snapshot>()
  const underWay = new Map<string, Promise<Snapshot>>()
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
  const load = async (page: SourceUrl) => (await readStored(deps, page)) ?? (await fetchPage(deps, page))
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
        underWay.get(page.url) ??
        load(page)
          .then((snapshot) => keep(page.url, snapshot))
          .finally(() => underWay.delete(page.url))
      underWay.set(page.url, loading)
      return loading
    },
  }
}

async function readStored(deps: SnapshotDeps, page: SourceUrl): Promise<Snapshot | undefined> {
  const { rows } = await deps.database.query<Snapshot>({
    name: 'cited_snapshot',
    text: `select c.final_url as "finalUrl", c.http_status as "httpStatus", c.fetched_at as "fetchedAt",
        c.content_sha256 as "contentSha256", c.text_sha256 as "textSha256", c.title, t.text, c.licence
      from cited_page c join cited_text t on t.text_sha256 = c.text_sha256 where c.url = $1 and c.fetched_at > $3
      union all
      select p.url, 200, p.fetched_at, v.content_sha256, v.text_sha256, v.title, v.text, p.facts->'licences'->0->>'url'
      from crawl_page p join page_version v on v.domain = p.domain and v.url = p.url and v.text_sha256 = p.text_sha256
      where p.domain = $2 and p.url = $1 and p.fetched_at > $3 and p.problem is null
      order by "fetchedAt" desc limit 1`,
    values: [page.url, page.domain, new Date(deps.clock.nowMs() - deps.freshMs)],
  })
  return rows[0]
}

const unreadable = (detail: string) => new Problem('page_unreadable', { detail })

async function fetchPage(deps: SnapshotDeps, page: SourceUrl): Promise<Snapshot> {
  await requireReadable(deps, page.url)
  const answer = await deps.outbound.fetch(page.url, {
    maxBytes: 5 * 1024 * 1024,
    totalMs: 10_000,
    accept: ['text/html', 'application/xhtml+xml', 'text/plain'],
    headers: { accept: 'text/html,application/xhtml+xml,text/plain' },
    redirectsMax: 3,
    plainHttp: true,
  })
  if (answer.status !== 'ok') throw unreadable(`The page could not be fetched: ${answer.detail}.`)
  if (answer.httpStatus !== 200) throw unreadable(`The page answers ${answer.httpStatus}.`)
  const host = new URL(answer.url).hostname
  if (host !== page.domain && matchSuffix(host).registrable !== page.registrable)
    throw unreadable(`The page leads to another domain, ${host}; cite that one.`)
  if (answer.url !== page.url) await requireReadable(deps, answer.url)
  return storePage(deps, page, answer)
}

/** A site that asks not to be read is not read for a citation either. */
async function requireReadable(deps: SnapshotDeps, url: string): Promise<void> {
  const reason = await deps.mayRead(url)
  if (reason !== undefined) throw unreadable(`The page may not be read: ${reason}.`)
}

async function storePage(deps: SnapshotDeps, page: SourceUrl, answer: OutboundOk): Promise<Snapshot> {
  const read = readPage(answer.bytes, answer.url, answer.headers)
  if ('problem' in read) throw unreadable(`The page could not be read: ${read.detail}.`)
  const snapshot: Snapshot = {
    finalUrl: answer.url,
    httpStatus: answer.httpStatus,
    fetchedAt: new Date(deps.clock.nowMs()),
    contentSha256: Buffer.from(read.contentSha256),
    textSha256: Buffer.from(read.textSha256),
    title: read.facts.title,
    text: read.text,
    licence: read.facts.licences[0]?.url ?? null,
  }
  await deps.database.transaction(async (tx) => {
    await tx.query('insert into cited_text values ($1, $2) on conflict do nothing', [
      snapshot.textSha256,
      snapshot.text,
    ])
    await tx.query(
      `insert into cited_page (url, final_url, http_status, title, content_sha256, text_sha256, licence, fetched_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)
       on conflict (url) do update set final_url = excluded.final_url, http_status = excluded.http_status,
         title = excluded.title, content_sha256 = excluded.content_sha256, text_sha256 = excluded.text_sha256,
         licence = excluded.licence, fetched_at = excluded.fetched_at`,
      [
        page.url,
        snapshot.finalUrl,
        snapshot.httpStatus,
        snapshot.title,
        snapshot.contentSha256,
        snapshot.textSha256,
        snapshot.licence,
        snapshot.fetchedAt,
      ],
    )
  })
  return snapshot
}
