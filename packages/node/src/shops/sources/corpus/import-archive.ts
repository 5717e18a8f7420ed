import type { Database, Tx } from '@assay/till/store/database'
import { pageBudget } from '../crawl/page-budget.ts'
import { ownAddress } from '../crawl/same-site.ts'
import { addPages, type PageResult, storePages } from '../crawl/store.ts'
import { originOf } from '../deps.ts'
import { type CanonicalDomain, canonicalDomain } from '../domain/canonical-domain.ts'
import type { ReadPdf } from '../page/pdf-process-adapter.ts'
import { readDocument } from '../page/read-document.ts'
import { lockSource } from '../register/records.ts'
import { type CorpusDeps, ensureSource, type SeedBudget } from './add-seeds.ts'
import { type ArchivedAnswer, readWarc } from './read-warc.ts'

export type ArchiveBudget = SeedBudget & {
  /** Pages of the whole file. */
  total?: number | undefined
}

export type ImportedArchive = {
  /** Answers in the file, and what became of them. */
  answers: number
  pages: number
  domains: number
  skipped: { not_a_page: number; unreadable: number; known: number; over_budget: number; not_a_domain: number }
}

const recordBytesMax = 5 * 1024 * 1024
const batchPages = 50
const defaultPages = 50

type Read = { url: string; result: PageResult }

/**
 * The pages of an archive, as if they had been read when it was made. They are offered once the site itself was visited,
 * so that what it forbids today is obeyed, and read again as any other page.
 */
export async function importArchive(
  deps: CorpusDeps & { readPdf: ReadPdf },
  path: string,
  budget: ArchiveBudget,
  onProgress: (so: ImportedArchive) => void,
): Promise<ImportedArchive> {
  const so: ImportedArchive = {
    answers: 0,
    pages: 0,
    domains: 0,
    skipped: { not_a_page: 0, unreadable: 0, known: 0, over_budget: 0, not_a_domain: 0 },
  }
  const waiting = new Map<string, { name: CanonicalDomain; pages: Read[] }>()
  const taken = new Set<string>()
  const flush = async (domain: string) => {
    const batch = waiting.get(domain)
    waiting.delete(domain)
    if (!batch) return
    const stored = await storeBatch(deps, batch.name, batch.pages, budget)
    so.pages += stored.pages
    so.skipped.known += stored.known
    so.skipped.over_budget += batch.pages.length - stored.pages - stored.known
    onProgress(so)
  }
  for await (const answer of readWarc(path, { recordBytesMax })) {
    so.answers += 1
    if (!isPage(answer)) {
      so.skipped.not_a_page += 1
      continue
    }
    const name = canonicalDomain(new URL(answer.url).hostname.replace(/^www\.(?=[^.]+\.)/, ''), deps.domains)
    const fits = name.ok && (taken.has(name.domain) || budget.domains === undefined || taken.size < budget.domains)
    if (!name.ok) so.skipped.not_a_domain += 1
    else if (!fits || (budget.total !== undefined && so.pages + countOf(waiting) >= budget.total))
      so.skipped.over_budget += 1
    else {
      const read = await readAnswer(deps, answer, name)
      if (!read) so.skipped.unreadable += 1
      else {
        taken.add(name.domain)
        so.domains = taken.size
        const batch = waiting.get(name.domain) ?? { name, pages: [] }
        batch.pages.push(read)
        waiting.set(name.domain, batch)
        if (batch.pages.length >= batchPages) await flush(name.domain)
        if (waiting.size > batchPages) await flush([...waiting.keys()][0] as string)
      }
    }
  }
  for (const domain of [...waiting.keys()]) await flush(domain)
  return so
}

const countOf = (waiting: ReadonlyMap<string, { pages: readonly unknown[] }>) =>
  [...waiting.values()].reduce((sum, { pages }) => sum + pages.length, 0)

const isPage = ({ httpStatus, headers }: ArchivedAnswer) =>
  httpStatus === 200 &&
  /^\s*(?:text\/html|application\/xhtml\+xml|application\/pdf|text\/plain)\b/i.test(headers.get('content-type') ?? '')

async function readAnswer(
  deps: CorpusDeps & { readPdf: ReadPdf },
  answer: ArchivedAnswer,
  name: CanonicalDomain,
): Promise<Read | undefined> {
  const url = ownAddress(answer.url, originOf(deps.domains, name.domain))
  if (url === undefined || /^\/robots\.txt$/.test(new URL(url).pathname)) return undefined
  const read = await readDocument(deps.readPdf, answer, url)
  if (!('facts' in read) || read.facts.needsScript) return undefined
  const { contentSha256, textSha256, facts, text } = read
  return {
    url,
    result: {
      url,
      dueAt: new Date(deps.clock.nowMs()),
      fetchedAt: answer.fetchedAt,
      attempts: 0,
      againSeconds: null,
      // The host itself has not been asked.
      httpStatus: null,
      etag: answer.headers.get('etag')?.slice(0, 500) ?? null,
      lastModified: answer.headers.get('last-modified')?.slice(0, 500) ?? null,
      problem: null,
      read: { contentSha256, textSha256, facts, title: facts.title, text },
    },
  }
}

async function storeBatch(
  deps: { database: Database } & CorpusDeps,
  name: CanonicalDomain,
  read: readonly Read[],
  budget: ArchiveBudget,
): Promise<{ pages: number; known: number }> {
  // Of an address that was archived several times the newest answer counts.
  const newest = new Map(
    [...read].sort((a, b) => a.result.fetchedAt.getTime() - b.result.fetchedAt.getTime()).map((one) => [one.url, one]),
  )
  return deps.database.transaction(async (tx) => {
    await ensureSource(deps, tx, name, budget.pages)
    const source = await lockSource(tx, name.domain)
    if (!source || source.state === 'refused') return { pages: 0, known: 0 }
    const now = new Date(deps.clock.nowMs())
    await addPages(
      tx,
      name.domain,
      [...newest.keys()].map((url) => ({ url, foundBy: 'archive' as const })),
      now,
      pageBudget(source, defaultPages),
    )
    const urls = await unread(tx, name.domain, [...newest.values()])
    await storePages(
      tx,
      name.domain,
      urls.map((url) => (newest.get(url) as Read).result),
    )
    await tx.query('update crawl_host set due_at = least(due_at, $2), wanted_at = $2 where domain = $1', [
      name.domain,
      now,
    ])
    const { rows } = await tx.query<{ known: bigint }>(
      'select count(*) as known from crawl_page where domain = $1 and url = any($2)',
      [name.domain, [...newest.keys()]],
    )
    return { pages: urls.length, known: Number(rows[0]?.known ?? 0) - urls.length + (read.length - newest.size) }
  })
}

/** Those that nobody has read yet, or that an older archive gave. */
async function unread(tx: Tx, domain: string, pages: readonly Read[]): Promise<string[]> {
  const { rows } = await tx.query<{ url: string }>(
    `select p.url from crawl_page p join unnest($2::text[], $3::timestamptz[]) as g(url, fetched_at) on g.url = p.url
     where p.domain = $1 and p.http_status is null and p.problem is null and (p.facts is null or p.fetched_at < g.fetched_at)`,
    [domain, pages.map(({ url }) => url), pages.map(({ result }) => result.fetchedAt)],
  )
  return rows.map(({ url }) => url)
}
