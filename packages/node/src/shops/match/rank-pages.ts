import type { IndexedPage } from '../sources/pages/index.ts'
import { groupCopies } from './group-copies.ts'
import type { Candidate } from './match-index.ts'
import { hasPhrase, type Query } from './read-query.ts'
import { tokenize } from './tokenize.ts'

/** What moves a page besides its text. */
export type TrustParts = {
  /** Between 0.5 for a source without a score and 1 for one with 100. */
  trust: number
  /** Between 0.8 for what is old or undated and 1 for what is new. */
  freshness: number
  /** Above 1 where quoted phrases stand in the page as they were quoted. */
  phrases: number
}

export type TextMatch = Pick<Candidate, 'relevance' | 'covered' | 'parts'>
export type RankedPage = { page: IndexedPage; text: TextMatch; rank: number; parts: TrustParts }

/** `perDomainMax` undefined: all pages of a site compete. */
export type RankOptions = { limit: number; perDomainMax: number | undefined; nowMs: number }

const halfLifeDays = 365
const freshnessFloor = 0.8
const dayMs = 86_400_000
/** Trust decides between pages that answer about equally well, not whether they answer. */
export const trustPower = 0.03

/** Best first. The same candidates at the same time give the same order: ties go by address. */
export function rankPages(
  candidates: readonly { page: IndexedPage; text: TextMatch }[],
  query: Query,
  options: RankOptions,
): RankedPage[] {
  const ranked = candidates
    .map(({ page, text }): RankedPage => {
      const parts = {
        trust: 0.5 + 0.5 * ((page.citeScore ?? 0) / 100),
        freshness: freshnessOf(page, options.nowMs),
        phrases: phraseFactor(page, query),
      }
      const rank = text.relevance * parts.phrases * (parts.trust * parts.freshness) ** trustPower
      return { page, text, parts, rank }
    })
    .sort((a, b) => b.rank - a.rank || (a.page.url < b.page.url ? -1 : 1))
  return capped(groupCopies(ranked), options)
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
function capped(ranked: readonly RankedPage[], { limit, perDomainMax = limit }: RankOptions): RankedPage[] {
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
