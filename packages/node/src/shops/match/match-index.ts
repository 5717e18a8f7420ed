import { buildSegment, defaultWeights, type FieldWeights } from './build-segment.ts'
import { createDenseTerms, type DenseTerms } from './dense-terms.ts'
import { createFilter, type Filters } from './filters.ts'
import { createKnownTerms, type KnownTerms } from './known-terms.ts'
import { type LatentSpace, latentDims, projectSegment, trainLatentSpace } from './latent-space.ts'
import { mergeSegments } from './merge-segments.ts'
import { type Query, wordsOneEditAway } from './read-query.ts'
import { defaultRescoring, rescore } from './rescore.ts'
import type { LookedUp, Rescored, RescoreWeights } from './rescored.ts'
import { createScratch, type QueryTerm, searchSegment } from './search-segment.ts'
import { findTerm, type IndexedDoc, type Segment } from './segment.ts'
import { rarityOf, weightOf } from './term-weights.ts'
import { tokenize } from './tokenize.ts'
import { createTopHits, type Hit, takeHits } from './top-hits.ts'

export type Candidate = {
  pageId: number
  domain: string
  /** How well the page answers, 0 to 1, comparable between searches. */
  relevance: number
  /** Share of what was asked, by the rarity of the words, that is in the page at all. */
  covered: number
  parts: Record<string, number>
}

export type Found = {
  candidates: Candidate[]
  /** Words of the query that stand in no page. */
  unknown: string[]
  /** For some of those a word that is one slip away and does occur. It was not looked for. */
  suggestions: Record<string, string>
}

export type MatchIndex = {
  /** Best first; ties by the age of the page. */
  search(query: Query, filters: Filters, limit: number): Found
  /** The best by their words alone, before anything else is checked. */
  hits(query: Query, filters: Filters, limit: number): Hit[]
  /** In ascending order of page ids, above all that are there. */
  add(docs: readonly IndexedDoc[]): void
  /** The same holds for its pages. */
  adopt(segment: Segment): void
  /** Scores of domains change without their pages; one that is not known counts as 0. */
  setScores(scores: Iterable<readonly [domain: string, score: number]>): void
  segments(): readonly Segment[]
  docCount(): number
  /** The pages have doubled since the latent space was last learnt. */
  wantsTraining(): boolean
  /** Learns it again; pauses often, and searches go on with the old one until it ends. */
  train(): Generator<undefined, void>
}

export type IndexTuning = { fields?: FieldWeights; rescoring?: RescoreWeights }

/** A segment is merged into its neighbour while it is not this much smaller. */
const tierFactor = 4
const mergedDocsMax = 300_000
const suggestedMax = 3
/** How many terms are cached between searches. */
const knownMax = 50_000

type Part = { segment: Segment; dense: DenseTerms; latent: Int8Array | undefined }

/** Candidates only: the database tells which of them still are what they were when they were indexed. */
export function createMatchIndex(tuning: IndexTuning = {}): MatchIndex {
  const fields = tuning.fields ?? defaultWeights
  let parts: Part[] = []
  let space: LatentSpace | undefined
  let trainedAt = 0
  const scores = new Map<string, number>()
  const scratch = createScratch()
  const docCount = () => parts.reduce((sum, { segment }) => sum + segment.docCount, 0)
  const partOf = (segment: Segment, latent?: Int8Array): Part => ({
    segment,
    dense: createDenseTerms(segment),
    latent: latent ?? (space && toEnd(projectSegment(space, segment))),
  })

  let known: KnownTerms | undefined
  const knownTerms = (): KnownTerms => {
    if (known && known.size() < knownMax) return known
    const [here, pages] = [parts, docCount()]
    known = createKnownTerms(
      here.map(({ segment }) => segment),
      pages,
      (text) => lookUp(here, text, 1, pages),
    )
    return known
  }

  const termsOf = ({ terms }: Query) => {
    const pages = docCount()
    return [...terms].map(([text, times]) => lookUp(parts, text, times, pages))
  }

  const hitsOf = (terms: readonly LookedUp[], filters: Filters, limit: number): Hit[] => {
    const best = createTopHits(limit)
    let first = 0
    parts.forEach(({ segment, dense }, place) => {
      const here = terms.flatMap(({ ids, times, rarity }): QueryTerm[] => {
        const term = ids[place] as number
        return term < 0 ? [] : [{ term, weight: weightOf(times, rarity) }]
      })
      if (here.length > 0)
        searchSegment(segment, first, here, dense, best, createFilter(segment, filters, scores), scratch)
      first += segment.docCount
    })
    return takeHits(best).map(({ score, number }) => hitOf(parts, score, number))
  }

  return {
    segments: () => parts.map(({ segment }) => segment),
    docCount,
    adopt: (segment) => {
      parts.push(partOf(segment))
      known = undefined
    },
    setScores: (changed) => {
      for (const [domain, score] of changed) scores.set(domain, score)
    },
    add: (docs) => {
      if (docs.length === 0) return
      parts = settled([...parts, partOf(buildSegment(docs, fields))], partOf)
      known = undefined
    },
    wantsTraining: () => docCount() >= Math.max(4 * latentDims, 2 * trainedAt),
    train: function* () {
      trainedAt = docCount()
      const trained = yield* trainLatentSpace(parts.map(({ segment }) => segment))
      if (!trained) return
      const projected = new Map<Segment, Int8Array>()
      // Segments may come and merge while this goes on.
      for (;;) {
        const missing = parts.find(({ segment }) => !projected.has(segment))
        if (!missing) break
        projected.set(missing.segment, yield* projectSegment(trained, missing.segment))
      }
      space = trained
      parts = parts.map((part) => ({ ...part, latent: projected.get(part.segment) }))
    },
    hits: (query, filters, limit) => hitsOf(termsOf(query), filters, limit),
    search: (query, filters, limit) => {
      const terms = termsOf(query)
      const rescored = rescore(
        { parts, terms, order: query.order, space, known: knownTerms() },
        hitsOf(terms, filters, limit),
        tuning.rescoring ?? defaultRescoring,
      )
      return { candidates: candidatesOf(parts, terms, rescored), ...unknownOf(parts, query, terms) }
    },
  }
}

/** Merges from the end until each segment is well smaller than the one before it. */
function settled(given: readonly Part[], partOf: (segment: Segment, latent?: Int8Array) => Part): Part[] {
  const parts = [...given]
  while (parts.length > 1) {
    const [before, last] = parts.slice(-2) as [Part, Part]
    const [size, more] = [before.segment.docCount, last.segment.docCount]
    if (more * tierFactor < size || size + more > mergedDocsMax) break
    parts.splice(-2, 2, partOf(mergeSegments([before.segment, last.segment]), joined(before, last)))
  }
  return parts
}

/** `number` counts the documents of all parts in their order. */
function hitOf(parts: readonly Part[], score: number, number: number): Hit {
  let [place, doc] = [0, number]
  for (; doc >= (parts[place] as Part).segment.docCount; place += 1) doc -= (parts[place] as Part).segment.docCount
  return { pageId: (parts[place] as Part).segment.pageIds[doc] as number, score, segment: place, doc }
}

function joined({ latent: before }: Part, { latent: last }: Part): Int8Array | undefined {
  if (!before || !last) return undefined
  const all = new Int8Array(before.length + last.length)
  all.set(before)
  all.set(last, before.length)
  return all
}

function toEnd<Result>(steps: Generator<undefined, Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

function candidatesOf(parts: readonly Part[], terms: readonly LookedUp[], rescored: readonly Rescored[]): Candidate[] {
  // A word that is on no page is part of what was asked: an answer without it is less of an answer.
  const asked = terms.reduce((sum, { times, rarity }) => sum + weightOf(times, rarity), 0)
  const bestWords = rescored.reduce((most, { hit }) => Math.max(most, hit.score), 0)
  const strength = bestWords / (255 * Math.max(1, asked))
  const bestTotal = rescored[0]?.total ?? 1
  return rescored.map(({ hit, parts: found, total, covered }) => {
    const { segment } = parts[hit.segment] as Part
    return {
      pageId: hit.pageId,
      domain: segment.domains[segment.domainOf[hit.doc] as number] as string,
      relevance: (strength * total) / bestTotal,
      covered: covered / Math.max(1, asked),
      parts: found,
    }
  })
}

/** Rare words weigh more. */
function lookUp(parts: readonly Part[], text: string, times: number, docCount: number): LookedUp {
  let count = 0
  const ids = parts.map(({ segment: { terms, starts } }) => {
    const term = findTerm(terms, text)
    if (term >= 0) count += (starts[term + 1] as number) - (starts[term] as number)
    return term
  })
  return { text, times, ids, count, rarity: rarityOf(docCount, count) }
}

function unknownOf(
  parts: readonly Part[],
  { words }: Query,
  known: readonly LookedUp[],
): Pick<Found, 'unknown' | 'suggestions'> {
  const counts = new Map(known.map(({ text, count }) => [text, count]))
  const occurrences = (terms: readonly string[]) =>
    terms.length === 0 ? 0 : Math.min(...terms.map((term) => counts.get(term) ?? lookUp(parts, term, 1, 0).count))
  const unknown = [...words].filter(([, terms]) => occurrences(terms) === 0).map(([word]) => word)
  const suggestions: Record<string, string> = {}
  for (const word of unknown.slice(0, suggestedMax)) {
    const near = [...new Set(wordsOneEditAway(word))]
      .map((spelling) => ({ spelling, count: occurrences(tokenize(spelling)) }))
      // Several spellings have one stem; the longest is most likely the word itself.
      .sort(
        (a, b) => b.count - a.count || b.spelling.length - a.spelling.length || (a.spelling < b.spelling ? -1 : 1),
      )[0]
    if (near && near.count > 0) suggestions[word] = near.spelling
  }
  return { unknown, suggestions }
}
