import { type Hex, toHex } from '@assay/protocol/bytes'
import type { Sql } from '@assay/till/store/database'
import { type LicenceFinding, maySellWhole } from '../page/licence.ts'
import type { ContentType, PageFacts } from '../page/read-page.ts'
import { decidePrices, decideTerms, hasOwnTerms, type PagePrices, type SiteTerms } from './page-terms.ts'

/** A page as the crawler last read it, with what is needed to rank, quote and cite it. */
export type IndexedPage = {
  domain: string
  registrable: string
  url: string
  title: string
  /** Main text, before `normalText`. */
  text: string
  /** Digest of the decoded body. */
  contentSha256: Hex
  /** Digest of the normalized text. */
  textSha256: Hex
  fetchedAt: Date
  language: string | undefined
  authors: readonly string[]
  publisher: string | undefined
  /** As the page names it, where that is on its own host. */
  canonical: string
  /** As the page names it, wherever that is. */
  namedCanonical: string | undefined
  alternates: readonly string[]
  sketch: string
  firstReadAt: Date
  type: ContentType
  /** May its words be given to others, and if not, why; and may all of them be sold. */
  terms: { snippet: boolean; reason: string | null; content: boolean }
  prices: PagePrices
  publishedAt: string | undefined
  modifiedAt: string | undefined
  licences: readonly LicenceFinding[]
  citeScore: number | null
  synthetic: boolean
}

export type StoredPage = {
  domain: string
  registrable: string
  url: string
  facts: PageFacts | null
  title: string | null
  text: string | null
  content_sha256: Buffer | null
  text_sha256: Buffer | null
  fetched_at: Date | null
  first_read_at: Date | null
  unconfirmed: boolean
  site_terms: SiteTerms
  state: string
  cite_score: number | null
  synthetic: boolean
}

/** What a host and its creator say for all of its pages, as JSON of `SiteTerms`. */
export const siteTermsColumn = `jsonb_build_object('own', s.creator_terms, 'signals', h.findings->'robots'->'signals', 'tdm', h.findings->'tdm'->'rules',
    'rsl', case when h.findings ? 'rsl' then jsonb_build_object('status', h.findings->'rsl'->'status', 'licences', h.findings->'rsl'->'licences') end)`

/** Columns and tables of a `StoredPage`; what it is asked for follows as `where`. */
export const pageColumns = `p.domain, s.registrable, p.url, p.facts, v.title, v.text, p.content_sha256, p.text_sha256,
  p.fetched_at, p.first_read_at, s.state, s.cite_score, s.synthetic, ${siteTermsColumn} as site_terms,
  (p.found_by = 'archive' and p.http_status is null and (coalesce(h.findings->'robots'->>'status', 'unknown') = 'unknown'
    or (h.findings->>'discoveredAt')::timestamptz < p.due_at)) as unconfirmed
  from crawl_page p join source s on s.domain = p.domain left join crawl_host h on h.domain = p.domain
  left join page_version v on v.domain = p.domain and v.url = p.url and v.text_sha256 = p.text_sha256`

/** Undefined for what must not be offered: never read or gone, asked to be left out, or of a refused source. */
export function indexedPage(row: StoredPage): IndexedPage | undefined {
  const { facts, title, text, content_sha256, text_sha256, fetched_at } = row
  if (!facts || title === null || text === null || !content_sha256 || !text_sha256 || !fetched_at) return undefined
  if (row.state === 'refused') return undefined
  // What the site allows today is not known before it was visited after the archive was read.
  if (row.unconfirmed) return undefined
  const terms = decideTerms(row.url, facts, row.site_terms)
  if (!terms.index) return undefined
  const prices = decidePrices(row.url, row.site_terms)
  return {
    domain: row.domain,
    registrable: row.registrable,
    url: row.url,
    title,
    text,
    contentSha256: toHex(content_sha256),
    textSha256: toHex(text_sha256),
    fetchedAt: fetched_at,
    language: facts.language,
    authors: facts.authors,
    publisher: facts.publisher,
    canonical: canonicalOf(row.url, facts.canonical),
    namedCanonical: facts.canonical,
    alternates: facts.alternates,
    sketch: facts.sketch,
    firstReadAt: row.first_read_at ?? fetched_at,
    type: facts.type,
    terms: {
      snippet: terms.snippet,
      reason: terms.reason,
      content: terms.snippet && mayGiveWhole(row, prices),
    },
    prices,
    publishedAt: facts.publishedAt,
    modifiedAt: facts.modifiedAt,
    licences: facts.licences,
    citeScore: row.cite_score,
    synthetic: row.synthetic,
  }
}

/** What the creator set goes before a licence that the page names. */
const mayGiveWhole = ({ url, facts, site_terms }: StoredPage, { contentMicro }: PagePrices) =>
  contentMicro !== undefined || (!hasOwnTerms(url, site_terms) && maySellWhole(facts?.licences ?? []))

/** A page that names another host as its home speaks for that host's owner: its own address stays. */
const canonicalOf = (url: string, named: string | undefined) =>
  named !== undefined && new URL(named).host === new URL(url).host ? named : url

/** The stored page of an address, written as the crawler writes it: absolute and without fragment. */
export async function findPage(sql: Sql, domain: string, url: string): Promise<IndexedPage | undefined> {
  const { rows } = await sql.query<StoredPage>(`select ${pageColumns} where p.domain = $1 and p.url = $2`, [
    domain,
    url,
  ])
  return rows[0] ? indexedPage(rows[0]) : undefined
}

export type PageVersion = { title: string; text: string; contentSha256: Hex; fetchedAt: Date }

/** What a page said when its text had this digest, even if it says something else now. */
export async function findPageVersion(
  sql: Sql,
  page: { domain: string; url: string; textSha256: Uint8Array },
): Promise<PageVersion | undefined> {
  const { rows } = await sql.query<{ title: string; text: string; content_sha256: Buffer; fetched_at: Date }>(
    'select title, text, content_sha256, fetched_at from page_version where domain = $1 and url = $2 and text_sha256 = $3',
    [page.domain, page.url, Buffer.from(page.textSha256)],
  )
  const [row] = rows
  return (
    row && { title: row.title, text: row.text, contentSha256: toHex(row.content_sha256), fetchedAt: row.fetched_at }
  )
}
