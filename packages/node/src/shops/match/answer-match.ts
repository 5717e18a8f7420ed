import { domainToASCII } from 'node:url'
import type { Address } from '@assay/protocol/address'
import { toHex } from '@assay/protocol/bytes'
import type { Json } from '@assay/protocol/canonical-json'
import { formatUsd, type Micro, splitShare } from '@assay/protocol/money'
import type { PreparedAnswer } from '@assay/till/internal'
import { sha256 } from '@assay/till/kernel/bytes'
import { type Clock, toRfc3339 } from '@assay/till/kernel/clock'
import type { Ids } from '@assay/till/kernel/ids'
import type { Log } from '@assay/till/kernel/log'
import { Problem } from '@assay/till/kernel/problem'
import type { Database, Sql, Tx } from '@assay/till/store/database'
import { tollBps } from '../ports.ts'
import { normalText } from '../sources/page/index.ts'
import {
  type IndexedPage,
  indexedPage,
  pageColumns,
  readSourceTerms,
  type SourceTerms,
  type StoredPage,
} from '../sources/pages/index.ts'
import { citePage } from './cite-page.ts'
import type { Filters } from './filters.ts'
import { groupCopies } from './group-copies.ts'
import { makeSnippet } from './make-snippet.ts'
import type { MatchEngine } from './match-engine.ts'
import type { Found } from './match-index.ts'
import type { MatchAnswer, MatchedPage, MatchRequest, Understood } from './match-schemas.ts'
import { matchProblems } from './problems.ts'
import { type RankedPage, rankPages, type TextMatch } from './rank-pages.ts'
import { type Query, readQuery } from './read-query.ts'
import { aboveFloor } from './relevance-floor.ts'
import { type Reranker, rerankPages } from './rerank.ts'
import { contentMaxMicro, licensedTextMicro, type ReservedShare, reservedShares, type SoldText } from './sell-texts.ts'
import { tokenize } from './tokenize.ts'

/** How old the pages may be that a replica confirms. */
const lagMsMax = 2_000

export type MatchDeps = {
  database: Database
  clock: Clock
  ids: Ids
  engine: MatchEngine
  log: Log
  /** Off where the operator has no model. */
  rerank?: Reranker
  /** Whether creators can be paid for texts; without it only what a licence gives away is sold whole. */
  paysCreators: boolean
}

const candidatesMax = 200
const perDomainMax = 3
const dayMs = 86_400_000

/** `contentMicro`: what the texts that were given whole cost. */
type PreparedMatch = PreparedAnswer & { contentMicro: Micro }

/** Finds, confirms against the database, ranks and quotes. */
export async function answerMatch(deps: MatchDeps, request: MatchRequest, payer: Address): Promise<PreparedMatch> {
  const nowMs = deps.clock.nowMs()
  const limit = request.limit ?? 10
  const query = readQuery(request.query)
  const { candidates, ...found } = await gatherCandidates(deps, request, nowMs, limit)
  const understood: Understood = { looked_for: [...query.words.keys()], ignored: [...query.ignored], ...found }
  // All pages of sites that were named compete; otherwise nobody fills the answer.
  const reordered = deps.rerank
    ? await rerankPages(deps.rerank, request.query, query, candidates, deps.log)
    : candidates
  const ranked = rankPages(reordered, query, {
    limit,
    perDomainMax: request.domains ? undefined : perDomainMax,
    nowMs,
  })
  if (ranked.length === 0) throw new Problem(matchProblems.no_match, { extra: { understood } })
  const terms = await readSourceTerms(deps.database, [...new Set(ranked.map(({ page }) => page.domain))])
  const texts = request.content ? sellTexts(deps, ranked, request) : []
  const answer: MatchAnswer = {
    query_id: deps.ids.next('qry'),
    data: ranked.map((one, place) => ({
      ...matchedPage(deps, one, place + 1, terms.get(one.page.domain), query),
      ...(request.content ? { content: texts[place]?.text ?? null } : {}),
    })),
    next_cursor: null,
    understood,
    searched_at: toRfc3339(nowMs),
    synthetic: ranked.some(({ page }) => page.synthetic),
  }
  return {
    answer: { status: 200, contentType: 'application/json', body: JSON.stringify(answer) },
    reservation: reservationOf(answer, request.query, payer, texts),
    contentMicro: texts.reduce((sum, text) => sum + (text?.micro ?? 0n), 0n),
  }
}

/** The normal texts, whose digests the pages have, where they may be given whole and cost no more than was asked for. */
function sellTexts(
  { paysCreators }: MatchDeps,
  ranked: readonly RankedPage[],
  { content_usd_max }: MatchRequest,
): (SoldText | undefined)[] {
  const most = contentMaxMicro(content_usd_max)
  return ranked.map(({ page }) => {
    const { contentMicro } = page.prices
    if (!page.terms.content || (contentMicro !== undefined && (!paysCreators || contentMicro > most))) return undefined
    const text = normalText(page.text)
    const { domain, registrable, url } = page
    const share = contentMicro && { domain, registrable, page: url, micro: contentMicro }
    return { text, micro: contentMicro ?? licensedTextMicro(text), ...(share ? { share } : {}) }
  })
}

type Gathered = { candidates: { page: IndexedPage; text: TextMatch }[] } & Pick<Found, 'unknown' | 'suggestions'>

const roundsMax = 4

/**
 * The best candidates that are good enough, confirmed. One owner of many pages, or many copies of one text, may fill a
 * whole round, of which only a few are shown: then the next round looks past them, so that the others are found.
 */
async function gatherCandidates(
  deps: Pick<MatchDeps, 'database' | 'engine'>,
  request: MatchRequest,
  nowMs: number,
  limit: number,
): Promise<Gathered> {
  const filters = filtersOf(request, nowMs)
  const terms = readQuery(request.query).terms.size
  const candidates: Gathered['candidates'] = []
  let notUnder: string[] = []
  for (let round = 1; ; round += 1) {
    const found = await deps.engine.search(
      request.query,
      notUnder.length === 0 ? filters : { ...filters, notUnder },
      candidatesMax,
    )
    const good = aboveFloor(found.candidates, terms)
    const pages = await confirmedPages(
      deps.database,
      good.map(({ pageId }) => pageId),
    )
    for (const { pageId, ...text } of good) {
      const page = pages.get(pageId)
      if (page) candidates.push({ page, text })
    }
    const { shown, crowded } = countShown(candidates)
    notUnder = crowded
    const complete =
      shown >= limit || good.length < candidatesMax || round === roundsMax || request.domains !== undefined
    if (complete) return { candidates, unknown: found.unknown, suggestions: found.suggestions }
  }
}

/** How many of the candidates can be shown, and the owners of whom more would not be. */
function countShown(candidates: Gathered['candidates']): { shown: number; crowded: string[] } {
  const kept = groupCopies(candidates)
  const counts = new Map<string, number>()
  for (const { page } of kept) counts.set(page.registrable, (counts.get(page.registrable) ?? 0) + 1)
  const copied = new Set(candidates.map(({ page }) => page.registrable).filter((name) => !counts.has(name)))
  return {
    shown: [...counts.values()].reduce((sum, count) => sum + Math.min(count, perDomainMax), 0),
    crowded: [...copied, ...[...counts].flatMap(([name, count]) => (count >= perDomainMax ? [name] : []))],
  }
}

function filtersOf(request: MatchRequest, nowMs: number): Filters {
  const { domains, language, licence, min_score, max_age_days, since, until, type } = request
  const today = Math.floor(nowMs / dayMs)
  const days = [
    ...(max_age_days === undefined ? [] : [today - max_age_days]),
    ...(since === undefined ? [] : [dayOf(since)]),
  ]
  return {
    ...(domains === undefined ? {} : { domains: domains.map((name) => domainToASCII(name) || name.toLowerCase()) }),
    ...(language === undefined ? {} : { language: language.toLowerCase() }),
    ...(licence === undefined ? {} : { licences: [licence.toLowerCase()] }),
    ...(type === undefined ? {} : { types: [type] }),
    ...(min_score === undefined ? {} : { minScore: min_score }),
    ...(days.length === 0 ? {} : { sinceDay: Math.max(...days) }),
    ...(until === undefined ? {} : { untilDay: dayOf(until) }),
  }
}

const dayOf = (date: string) => Math.floor(Date.parse(date) / dayMs)

/** A page that changed since it was indexed has another number: what is not found here is not offered. */
async function confirmedPages(database: Database, ids: readonly number[]): Promise<Map<number, IndexedPage>> {
  const replica = database.within?.(lagMsMax)
  const found = await readPages(replica ?? database, ids)
  if (!replica) return found
  // Just indexed, and not there yet.
  const rest = await readPages(
    database,
    ids.filter((id) => !found.has(id)),
  )
  return new Map([...found, ...rest])
}

async function readPages(sql: Sql, ids: readonly number[]): Promise<Map<number, IndexedPage>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql.query<StoredPage & { change_seq: bigint }>(
    `select p.change_seq, ${pageColumns} where p.change_seq = any($1::bigint[])`,
    [ids],
  )
  return new Map(
    rows.flatMap((row) => {
      const page = indexedPage(row)
      return page ? [[Number(row.change_seq), page] as const] : []
    }),
  )
}

function matchedPage(
  deps: MatchDeps,
  { page, text, parts }: RankedPage,
  rank: number,
  terms: SourceTerms | undefined,
  query: Query,
): MatchedPage {
  const snippet = page.terms.snippet ? makeSnippet(page.text, new Set(query.terms.keys())) : undefined
  const named = page.licences[0]
  const inPage = new Set(tokenize(`${page.title} ${page.text}`))
  const { url, title, authors, publisher, publishedAt } = page
  const accessedAt = page.fetchedAt.toISOString()
  return {
    rank,
    url,
    canonical_url: page.canonical,
    title,
    snippet: snippet?.text ?? null,
    snippet_sha256: snippet ? toHex(sha256(snippet.text)) : null,
    snippet_start: snippet?.start ?? null,
    snippet_end: snippet?.end ?? null,
    text_sha256: page.textSha256,
    matched_terms: [...query.words].flatMap(([word, of]) => (of.every((term) => inPage.has(term)) ? [word] : [])),
    domain: page.domain,
    authors: [...authors],
    publisher: publisher ?? null,
    language: page.language ?? null,
    type: page.type,
    citation: citePage({ url: page.canonical, title, authors, publisher, publishedAt, accessedAt }),
    cite_score: page.citeScore,
    licence: named ? { name: named.name ?? null, url: named.url } : (terms?.licence ?? null),
    terms: page.terms,
    price: priceOf(deps, page),
    published_at: publishedAt ?? null,
    modified_at: page.modifiedAt ?? null,
    fetched_at: accessedAt,
    relevance: rounded(text.relevance),
    parts: Object.fromEntries(
      Object.entries({ ...text.parts, ...parts }).map(([name, value]) => [name, rounded(value)]),
    ),
    synthetic: page.synthetic,
  }
}

function priceOf({ paysCreators }: MatchDeps, { prices, terms, text }: IndexedPage): MatchedPage['price'] {
  if (prices.attestMicro === undefined) return null
  const licensed = prices.contentMicro === undefined
  const content = terms.content && (licensed || paysCreators)
  return {
    attest_micro: prices.attestMicro.toString(),
    attest_usd: formatUsd(prices.attestMicro),
    creator_micro: splitShare(prices.attestMicro, tollBps).rest.toString(),
    content_micro: content ? (prices.contentMicro ?? licensedTextMicro(normalText(text))).toString() : null,
  }
}

const rounded = (value: number) => Math.round(value * 10_000) / 10_000

type Reservation = {
  id: string
  payer: Address
  query: string
  pages: { url: string; text_sha256: string }[]
  synthetic: boolean
  shares: ReservedShare[]
}

function reservationOf(
  answer: MatchAnswer,
  query: string,
  payer: Address,
  texts: readonly (SoldText | undefined)[],
): Json {
  const pages = answer.data.map(({ url, text_sha256 }) => ({ url, text_sha256 }))
  return {
    id: answer.query_id,
    payer,
    query,
    pages,
    synthetic: answer.synthetic,
    shares: reservedShares(texts),
  } satisfies Reservation as unknown as Json
}

/** In the transaction of the sale: only what was paid for is demand. After a reorg the same sale ends a second time. */
export async function recordMatch(tx: Tx, reservation: Json, askedAtMs: number): Promise<void> {
  const { id, payer, query, pages, synthetic } = reservation as unknown as Reservation
  await tx.query(
    `insert into match_query (id, payer, query, pages, synthetic, asked_at) values ($1, $2, $3, $4, $5, $6)
     on conflict (id) do nothing`,
    [id, payer, query, JSON.stringify(pages), synthetic, new Date(askedAtMs)],
  )
}

const keptDays = 90

export async function deleteMatches(sql: Sql, nowMs: number): Promise<void> {
  await sql.query('delete from match_query where asked_at < $1', [new Date(nowMs - keptDays * dayMs)])
}
