import { buildSegment, type FieldWeights, usualWeights } from './build-segment.ts'
import { createDenseTerms, type DenseTerms } from './dense-terms.ts'
import { mergeSegments } from './merge-segments.ts'
import { oneSlipAway, type Query } from './read-query.ts'
import { type Accepts, createScratch, type QueryTerm, searchSegment } from './search-segment.ts'
import { findTerm, type IndexedDoc, type Segment } from './segment.ts'
import { createTopHits, type Hit } from './top-hits.ts'

/** What a page must be to be a candidate; absent means any. */
export type Filters = {
  domains?: readonly string[]
  /** Registrable domains that are left out, with everything below them. */
  notUnder?: readonly string[]
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

type Part = { segment: Segment; dense: DenseTerms }

/** Candidates only: the database tells which of them still are what they were when they were indexed. */
export function createMatchIndex(weights: FieldWeights = usualWeights): MatchIndex {
  let parts: Part[] = []
  const scores = new Map<string, number>()
  const scratch = createScratch()
  const docCount = () => parts.reduce((sum, { segment }) => sum + segment.docCount, 0)
  const partOf = (segment: Segment): Part => ({ segment, dense: createDenseTerms(segment) })

  const settle = () => {
    while (parts.length > 1) {
      const [before, last] = parts.slice(-2).map(({ segment }) => segment) as [Segment, Segment]
      if (last.docCount * tierFactor < before.docCount || before.docCount + last.docCount > mergedDocsMax) return
      parts = [...parts.slice(0, -2), partOf(mergeSegments([before, last]))]
    }
  }

  return {
    segments: () => parts.map(({ segment }) => segment),
    docCount,
    adopt: (segment) => {
      parts.push(partOf(segment))
    },
    setScores: (changed) => {
      for (const [domain, score] of changed) scores.set(domain, score)
    },
    add: (docs) => {
      if (docs.length === 0) return
      parts.push(partOf(buildSegment(docs, weights)))
      settle()
    },
    search: (query, filters, limit) => {
      const hits = createTopHits(limit)
      const { terms, corrected } = lookUp(parts, query.terms, docCount())
      parts.forEach(({ segment, dense }, index) => {
        const here = terms.flatMap(({ ids, weight }): QueryTerm[] => {
          const term = ids[index] as number
          return term < 0 ? [] : [{ term, weight }]
        })
        if (here.length > 0)
          searchSegment(segment, index, here, dense, hits, createFilter(segment, filters, scores), scratch)
      })
      return { candidates: hits.best().map((hit) => candidateOf(parts, hit)), corrected }
    },
  }
}

function candidateOf(parts: readonly Part[], { pageId, score, segment, doc }: Hit): Candidate {
  const { domains, domainOf } = (parts[segment] as Part).segment
  return { pageId, domain: domains[domainOf[doc] as number] as string, score }
}

/** A word and its number in each segment, -1 where it does not occur. */
type Word = { ids: readonly number[]; count: number }
type Looked = { terms: { ids: readonly number[]; weight: number }[]; corrected: Record<string, string> }

/** Rare words weigh more. A word that occurs nowhere is taken for the commonest one that is a slip away. */
function lookUp(parts: readonly Part[], words: Query['terms'], docCount: number): Looked {
  const corrected: Record<string, string> = {}
  const terms = new Map<string, { ids: readonly number[]; weight: number }>()
  const rarity = (count: number) => Math.log(1 + (docCount - count + 0.5) / (count + 0.5))
  const weigh = (text: string, { ids, count }: Word, share: number) => {
    const weight = Math.max(1, Math.round(scoreUnit * share * rarity(count)))
    terms.set(text, { ids, weight: Math.max(weight, terms.get(text)?.weight ?? 0) })
  }
  for (const [text, times] of words) {
    const emphasis = 1 + Math.log(times)
    const word = findWord(parts, text)
    if (word.count > 0) weigh(text, word, emphasis)
    else {
      const instead = commonestNear(parts, text)
      if (instead === undefined) continue
      corrected[text] = instead.text
      weigh(instead.text, instead.word, correctedShare * emphasis)
    }
  }
  return { terms: [...terms.values()], corrected }
}

function findWord(parts: readonly Part[], text: string): Word {
  let count = 0
  const ids = parts.map(({ segment: { terms, starts } }) => {
    const term = findTerm(terms, text)
    if (term >= 0) count += (starts[term + 1] as number) - (starts[term] as number)
    return term
  })
  return { ids, count }
}

function commonestNear(parts: readonly Part[], text: string): { text: string; word: Word } | undefined {
  let best: { text: string; word: Word } | undefined
  for (const spelling of oneSlipAway(text)) {
    const word = findWord(parts, spelling)
    const most = best?.word.count ?? 0
    if (word.count > most || (best && word.count === most && spelling < best.text)) best = { text: spelling, word }
  }
  return best
}

const acceptsAll: Accepts = () => true

/** Names are compared once per segment, documents by number. */
function createFilter(segment: Segment, filters: Filters, scores: ReadonlyMap<string, number>): Accepts {
  const { domains, notUnder, language, licences, sinceDay, minScore } = filters
  if ([domains, notUnder, language, licences, sinceDay, minScore].every((filter) => filter === undefined))
    return acceptsAll
  const wanted = domains === undefined ? undefined : new Set(domains)
  const byDomain =
    (domains ?? notUnder ?? minScore) === undefined
      ? undefined
      : segment.domains.map(
          (name) =>
            (wanted?.has(name) ?? true) &&
            (scores.get(name) ?? 0) >= (minScore ?? 0) &&
            notUnder?.some((above) => name === above || name.endsWith(`.${above}`)) !== true,
        )
  const languageId = language === undefined ? undefined : segment.languages.indexOf(language)
  const byLicence = licences === undefined ? undefined : segment.licences.map((name) => licences.includes(name))
  return (doc) =>
    (byDomain === undefined || byDomain[segment.domainOf[doc] as number] === true) &&
    (languageId === undefined || segment.languageOf[doc] === languageId) &&
    (byLicence === undefined || byLicence[segment.licenceOf[doc] as number] === true) &&
    (sinceDay === undefined || (segment.dayOf[doc] as number) >= sinceDay)
}
