import { buildSegment, type FieldWeights, usualWeights } from './build-segment.ts'
import { mergeSegments } from './merge-segments.ts'
import { oneSlipAway, type Query } from './read-query.ts'
import { type QueryTerm, searchSegment } from './search-segment.ts'
import { findTerm, type IndexedDoc, type Segment } from './segment.ts'
import { createTopHits, type Hit } from './top-hits.ts'

/** What a page must be to be a candidate; absent means any. */
export type Filters = {
  domains?: readonly string[]
  language?: string
  licences?: readonly string[]
  /** Days since 1970. */
  sinceDay?: number
  /** Least CiteScore of the domain. */
  minScore?: number
}

export type Candidate = { pageId: number; domain: string; score: number }

export type Found = {
  candidates: Candidate[]
  /** Words of the query that occur nowhere, and what was looked for instead. */
  corrected: Record<string, string>
}

export type MatchIndex = {
  /** Best first; ties by the age of the page. */
  search(query: Query, filters: Filters, limit: number): Found
  /** In ascending order of page ids, above all that are there. */
  add(docs: readonly IndexedDoc[]): void
  adopt(segment: Segment): void
  /** Scores of domains change without their pages; one that is not known counts as 0. */
  setScores(scores: Iterable<readonly [domain: string, score: number]>): void
  segments(): readonly Segment[]
  docCount(): number
}

const scoreUnit = 1_000
const correctedShare = 0.6
/** A segment is merged into its neighbour while it is not this much smaller. */
const tierFactor = 4
const mergedDocsMax = 300_000

/** Candidates only: the database tells which of them still are what they were when they were indexed. */
export function createMatchIndex(weights: FieldWeights = usualWeights): MatchIndex {
  let segments: Segment[] = []
  const scores = new Map<string, number>()
  const docCount = () => segments.reduce((sum, segment) => sum + segment.docCount, 0)

  const settle = () => {
    while (segments.length > 1) {
      const [before, last] = segments.slice(-2) as [Segment, Segment]
      if (last.docCount * tierFactor < before.docCount || before.docCount + last.docCount > mergedDocsMax) return
      segments = [...segments.slice(0, -2), mergeSegments([before, last])]
    }
  }

  return {
    segments: () => segments,
    docCount,
    adopt: (segment) => {
      segments.push(segment)
    },
    setScores: (changed) => {
      for (const [domain, score] of changed) scores.set(domain, score)
    },
    add: (docs) => {
      if (docs.length === 0) return
      segments.push(buildSegment(docs, weights))
      settle()
    },
    search: (query, filters, limit) => {
      const hits = createTopHits(limit)
      const { terms, corrected } = lookUp(segments, query.terms, docCount())
      segments.forEach((segment, index) => {
        const here = terms.flatMap(({ text, weight }): QueryTerm[] => {
          const term = findTerm(segment.terms, text)
          return term < 0 ? [] : [{ term, weight }]
        })
        if (here.length > 0) searchSegment(segment, index, here, hits, createFilter(segment, filters, scores))
      })
      return { candidates: hits.best().map((hit) => candidateOf(segments, hit)), corrected }
    },
  }
}

function candidateOf(segments: readonly Segment[], { pageId, score, segment, doc }: Hit): Candidate {
  const { domains, domainOf } = segments[segment] as Segment
  return { pageId, domain: domains[domainOf[doc] as number] as string, score }
}

type Looked = { terms: { text: string; weight: number }[]; corrected: Record<string, string> }

/** Rare words weigh more. A word that occurs nowhere is taken for the commonest one that is a slip away. */
function lookUp(segments: readonly Segment[], words: Query['terms'], docCount: number): Looked {
  const corrected: Record<string, string> = {}
  const weights = new Map<string, number>()
  const rarity = (count: number) => Math.log(1 + (docCount - count + 0.5) / (count + 0.5))
  const weigh = (text: string, share: number) => {
    const weight = Math.max(1, Math.round(scoreUnit * share * rarity(occurrences(segments, text))))
    weights.set(text, Math.max(weight, weights.get(text) ?? 0))
  }
  for (const [word, times] of words) {
    const emphasis = 1 + Math.log(times)
    if (occurrences(segments, word) > 0) weigh(word, emphasis)
    else {
      const instead = commonestNear(segments, word)
      if (instead === undefined) continue
      corrected[word] = instead
      weigh(instead, correctedShare * emphasis)
    }
  }
  return { terms: [...weights].map(([text, weight]) => ({ text, weight })), corrected }
}

function occurrences(segments: readonly Segment[], word: string): number {
  let count = 0
  for (const { terms, starts } of segments) {
    const term = findTerm(terms, word)
    if (term >= 0) count += (starts[term + 1] as number) - (starts[term] as number)
  }
  return count
}

function commonestNear(segments: readonly Segment[], word: string): string | undefined {
  let best: string | undefined
  let most = 0
  for (const spelling of oneSlipAway(word)) {
    const count = occurrences(segments, spelling)
    if (count > most || (count === most && count > 0 && best !== undefined && spelling < best)) {
      best = spelling
      most = count
    }
  }
  return best
}

/** Names are compared once per segment, documents by number. */
function createFilter(
  segment: Segment,
  filters: Filters,
  scores: ReadonlyMap<string, number>,
): (doc: number) => boolean {
  const { domains, language, licences, sinceDay, minScore } = filters
  const wanted = domains === undefined ? undefined : new Set(domains)
  const byDomain =
    wanted === undefined && minScore === undefined
      ? undefined
      : segment.domains.map((name) => (wanted?.has(name) ?? true) && (scores.get(name) ?? 0) >= (minScore ?? 0))
  const languageId = language === undefined ? undefined : segment.languages.indexOf(language)
  const byLicence = licences === undefined ? undefined : segment.licences.map((name) => licences.includes(name))
  return (doc) =>
    (byDomain === undefined || byDomain[segment.domainOf[doc] as number] === true) &&
    (languageId === undefined || segment.languageOf[doc] === languageId) &&
    (byLicence === undefined || byLicence[segment.licenceOf[doc] as number] === true) &&
    (sinceDay === undefined || (segment.dayOf[doc] as number) >= sinceDay)
}
