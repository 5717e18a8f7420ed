import { createGrowing } from './growing.ts'
import { createNameTable } from './name-table.ts'
import { createTermTable, type IndexedDoc, type Segment } from './segment.ts'
import { createTokenWriter } from './token-stream.ts'
import { tokenize } from './tokenize.ts'

/** BM25F: what a field weighs, and how much its length counts against it. Tuned on the development set of bench/relevance. */
export type FieldWeights = { k1: number; titleWeight: number; titleB: number; bodyB: number }

export const defaultWeights: FieldWeights = { k1: 1.5, titleWeight: 2.5, titleB: 0.3, bodyB: 0.6 }

/** Documents must come in ascending order of their page ids. */
export function buildSegment(docs: Iterable<IndexedDoc>, weights: FieldWeights = defaultWeights): Segment {
  const collector = createCollector()
  for (const doc of docs) collector.add(doc)
  return collector.finish(weights)
}

export function createCollector() {
  const termIds = new Map<string, number>()
  const docCounts = createGrowing(Uint32Array)
  const pairs = createPairs()
  const lengths = { title: createGrowing(Uint32Array), body: createGrowing(Uint32Array) }
  const columns = createColumns()
  const tokens = createTokenWriter(createGrowing(Uint8Array), createGrowing(Uint32Array))
  const seen = new Map<number, { title: number; body: number }>()

  const count = (field: 'title' | 'body', text: string): number => {
    const terms = tokenize(text)
    for (const term of terms) {
      let id = termIds.get(term)
      if (id === undefined) {
        id = termIds.size
        termIds.set(term, id)
        docCounts.push(0)
      }
      tokens.add(id)
      const counts = seen.get(id)
      if (counts) counts[field] += 1
      else seen.set(id, { title: field === 'title' ? 1 : 0, body: field === 'body' ? 1 : 0 })
    }
    return terms.length
  }

  return {
    size: columns.size,
    add(doc: IndexedDoc): void {
      const ordinal = columns.add(doc)
      seen.clear()
      tokens.open()
      lengths.title.push(count('title', doc.title))
      tokens.split()
      lengths.body.push(count('body', doc.text))
      for (const [term, counts] of seen) {
        docCounts.set(term, docCounts.at(term) + 1)
        pairs.term.push(term)
        pairs.doc.push(ordinal)
        pairs.title.push(Math.min(255, counts.title))
        pairs.body.push(Math.min(255, counts.body))
      }
    },
    finish: (weights: FieldWeights): Segment => ({
      ...columns.finish(),
      terms: createTermTable([...termIds.keys()]),
      ...sortByTerm(pairs, docCounts.view(), createImpact(weights, lengths.title.view(), lengths.body.view())),
      ...tokens.finish(),
    }),
  }
}

/** What a segment knows of its documents besides their words. */
function createColumns() {
  const pageIds = createGrowing(Float64Array)
  const domain = createGrowing(Uint32Array)
  const language = createGrowing(Uint16Array)
  const licence = createGrowing(Uint16Array)
  const type = createGrowing(Uint16Array)
  const day = createGrowing(Int32Array)
  const names = {
    domain: createNameTable(),
    language: createNameTable(),
    licence: createNameTable(),
    type: createNameTable(),
  }
  return {
    size: pageIds.length,
    /** Returns the number of the document. */
    add(doc: IndexedDoc): number {
      const ordinal = pageIds.length()
      if (ordinal > 0 && pageIds.at(ordinal - 1) >= doc.pageId)
        throw new Error('documents must come in order of their page ids')
      pageIds.push(doc.pageId)
      domain.push(names.domain.idOf(doc.domain))
      language.push(names.language.idOf(doc.language))
      licence.push(names.licence.idOf(doc.licence))
      type.push(names.type.idOf(doc.type))
      day.push(doc.day)
      return ordinal
    },
    finish: () => ({
      docCount: pageIds.length(),
      pageIds: pageIds.view(),
      domainOf: domain.view(),
      languageOf: language.view(),
      licenceOf: licence.view(),
      typeOf: type.view(),
      dayOf: day.view(),
      domains: names.domain.all(),
      languages: names.language.all(),
      licences: names.licence.all(),
      types: names.type.all(),
    }),
  }
}

/** Pairs of term and document in the order they come. */
const createPairs = () => ({
  term: createGrowing(Uint32Array),
  doc: createGrowing(Uint32Array),
  title: createGrowing(Uint8Array),
  body: createGrowing(Uint8Array),
})

/** By counting: postings of a term are in order of their documents, as the pairs are. */
function sortByTerm(
  pairs: ReturnType<typeof createPairs>,
  docCounts: Uint32Array,
  impactOf: ReturnType<typeof createImpact>,
): Pick<Segment, 'starts' | 'docs' | 'impacts' | 'peaks'> {
  const starts = new Uint32Array(docCounts.length + 1)
  for (let term = 0; term < docCounts.length; term += 1)
    starts[term + 1] = (starts[term] as number) + (docCounts[term] as number)
  const total = pairs.term.length()
  const docs = new Uint32Array(total)
  const impacts = new Uint8Array(total)
  const peaks = new Uint8Array(docCounts.length)
  const next = starts.slice(0, -1)
  for (let pair = 0; pair < total; pair += 1) {
    const term = pairs.term.at(pair)
    const doc = pairs.doc.at(pair)
    const at = next[term] as number
    next[term] = at + 1
    docs[at] = doc
    const impact = impactOf(doc, pairs.title.at(pair), pairs.body.at(pair))
    impacts[at] = impact
    if (impact > (peaks[term] as number)) peaks[term] = impact
  }
  return { starts, docs, impacts, peaks }
}

/** The saturating part of BM25F in 255ths; the rarity of a term joins it when a query is asked. */
function createImpact(weights: FieldWeights, titles: Uint32Array, bodies: Uint32Array) {
  const mean = (values: Uint32Array) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length) || 1
  const { k1, titleWeight, titleB, bodyB } = weights
  const [titleMean, bodyMean] = [mean(titles), mean(bodies)]
  return (doc: number, inTitle: number, inBody: number): number => {
    const title = inTitle / (1 - titleB + (titleB * (titles[doc] as number)) / titleMean)
    const body = inBody / (1 - bodyB + (bodyB * (bodies[doc] as number)) / bodyMean)
    const weight = titleWeight * title + body
    return Math.max(1, Math.round((255 * weight) / (k1 + weight)))
  }
}
