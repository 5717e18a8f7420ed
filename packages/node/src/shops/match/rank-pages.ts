import type { IndexedPage } from '../sources/pages/index.ts'
import { hasPhrase, type Query } from './read-query.ts'
import { tokenize } from './tokenize.ts'

export type RankParts = {
  /** Score of the words beside that of the best candidate. */
  relevance: number
  /** Between 0.5 for a source without a score and 1 for one with 100. */
  trust: number
  /** Between 0.8 for what is old or undated and 1 for what is new. */
  freshness: number
  /** Above 1 where quoted phrases stand in the page as they were quoted. */
  phrases: number
}

export type RankedPage = { page: IndexedPage; rank: number; parts: RankParts }

export type RankOptions = { limit: number; perDomainMax: number; nowMs: number }

const halfLifeDays = 365
const freshnessFloor = 0.8
const dayMs = 86_400_000

/** Best first. The same candidates at the same time give the same order: ties go by address. */
export function rankPages(
  candidates: readonly { page: IndexedPage; score: number }[],
  query: Query,
  options: RankOptions,
): RankedPage[] {
  const best = candidates.reduce((most, { score }) => Math.max(most, score), 1)
  const ranked = candidates
    .map(({ page, score }): RankedPage => {
      const parts = partsOf(page, score / best, query, options.nowMs)
      return { page, parts, rank: parts.relevance * parts.trust * parts.freshness * parts.phrases }
    })
    .sort((a, b) => b.rank - a.rank || (a.page.url < b.page.url ? -1 : 1))
  return capped(ranked, options)
}

function partsOf(page: IndexedPage, relevance: number, query: Query, nowMs: number): RankParts {
  return {
    relevance,
    trust: 0.5 + 0.5 * ((page.citeScore ?? 0) / 100),
    freshness: freshnessOf(page, nowMs),
    phrases: phraseFactor(page, query),
  }
}

/** A date in the future is a date nobody can have: it counts as none. */
function freshnessOf(page: IndexedPage, nowMs: number): number {
  const days = (nowMs - datedMs(page)) / dayMs
  if (!Number.isFinite(days) || days < -1) return freshnessFloor
  return freshnessFloor + (1 - freshnessFloor) * 2 ** (-Math.max(0, days) / halfLifeDays)
}

/** When the page says it was last changed or published; NaN when it does not say. */
export function datedMs(page: Pick<IndexedPage, 'modifiedAt' | 'publishedAt'>): number {
  return Date.parse(page.modifiedAt ?? page.publishedAt ?? '')
}

function phraseFactor(page: IndexedPage, query: Query): number {
  if (query.phrases.length === 0) return 1
  const terms = tokenize(`${page.title} \n ${page.text}`)
  const found = query.phrases.filter((phrase) => hasPhrase(terms, phrase)).length
  return 1 + found / query.phrases.length
}

/** Anyone who owns many pages must not fill the answer. */
function capped(ranked: readonly RankedPage[], { limit, perDomainMax }: RankOptions): RankedPage[] {
  const taken = new Map<string, number>()
  const kept: RankedPage[] = []
  for (const one of ranked) {
    const count = taken.get(one.page.registrable) ?? 0
    if (count >= perDomainMax) continue
    taken.set(one.page.registrable, count + 1)
    kept.push(one)
    if (kept.length === limit) break
  }
  return kept
}
