import type { Filters } from './filters.ts'
import type { MatchEngine } from './match-engine.ts'
import type { Candidate, Found } from './match-index.ts'
import { type Query, readQuery } from './read-query.ts'
import type { IndexedDoc } from './segment.ts'
import { termShares, unknownWords } from './term-weights.ts'
import { tokenize } from './tokenize.ts'

export type OpenSearchOptions = {
  url: string
  /** Name of the index; another one with `-state` behind it keeps how far it is filled. */
  index: string
  /** The whole value of the Authorization header. */
  authorization?: string | undefined
}

const requestMs = 10_000
/** A filter that names more domains than a cluster takes is applied to what comes back. */
const domainsMax = 60_000

const terms = { type: 'text', analyzer: 'whitespace', norms: true } as const
const mappings = {
  dynamic: 'strict',
  properties: {
    page_id: { type: 'long' },
    domain: { type: 'keyword' },
    /** The domain and all names above it. */
    names: { type: 'keyword' },
    title: terms,
    text: terms,
    language: { type: 'keyword' },
    licence: { type: 'keyword' },
    type: { type: 'keyword' },
    day: { type: 'integer' },
  },
}

type Answer = { status: number; body: Record<string, unknown> }

/**
 * A cluster that speaks the API of OpenSearch, for corpora that one machine does not hold. The terms are ours, so that
 * all engines understand a question alike; the cluster splits them at spaces only.
 */
export async function openOpenSearchEngine(options: OpenSearchOptions): Promise<MatchEngine> {
  const { index } = options
  const ask = (method: string, path: string, body?: string | object) => send(options, method, path, body)
  const state = `${index}-state`
  await mustBe(ask('PUT', `/${index}`, { mappings }), [200], 'resource_already_exists_exception')
  await mustBe(ask('PUT', `/${state}`, {}), [200], 'resource_already_exists_exception')
  const scores = new Map<string, number>()
  let indexed = Number(
    ((await ask('GET', `/${state}/_doc/position`)).body['_source'] as { indexed_to?: number } | undefined)
      ?.indexed_to ?? 0,
  )
  const docCount = async () => Number((await mustBe(ask('GET', `/${index}/_count`), [200])).body['count'])
  return {
    name: 'opensearch',
    indexedTo: async () => indexed,
    add: async (docs) => {
      if (docs.length === 0) return
      const lines = docs.flatMap((doc) => [{ index: { _index: index, _id: String(doc.pageId) } }, sourceOf(doc)])
      const bulk = await mustBe(
        ask('POST', '/_bulk?refresh=true', `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`),
        [200],
      )
      if (bulk.body['errors'] !== false) throw new Error('OpenSearch did not take all pages')
      indexed = Math.max(indexed, ...docs.map(({ pageId }) => pageId))
      // Written after the pages: what a process that died had not said is added again, under the same numbers.
      await mustBe(ask('PUT', `/${state}/_doc/position`, { indexed_to: indexed }), [200, 201])
    },
    setScores: async (changed) => {
      for (const [domain, score] of changed) scores.set(domain, score)
    },
    search: async (text, filters, limit) => {
      const query = readQuery(text)
      if (query.terms.size === 0) return { candidates: [], unknown: [], suggestions: {} }
      const [{ body }, docs] = await Promise.all([
        mustBe(ask('POST', `/${index}/_search`, searchBody(query, filters, scores, limit)), [200]),
        docCount(),
      ])
      return foundOf(body, query, docs, { filters, scores })
    },
    size: async () => ({ docs: await docCount(), segments: 0 }),
    stop: async () => {},
  }
}

async function send(
  { url, authorization }: OpenSearchOptions,
  method: string,
  path: string,
  body?: string | object,
): Promise<Answer> {
  const text = typeof body === 'object' ? JSON.stringify(body) : body
  const answer = await fetch(new URL(path.slice(1), url.endsWith('/') ? url : `${url}/`), {
    method,
    redirect: 'error',
    signal: AbortSignal.timeout(requestMs),
    headers: {
      'content-type': typeof body === 'string' ? 'application/x-ndjson' : 'application/json',
      ...(authorization === undefined ? {} : { authorization }),
    },
    ...(text === undefined ? {} : { body: text }),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

async function mustBe(asked: Promise<Answer>, statuses: readonly number[], unlessType?: string): Promise<Answer> {
  const answer = await asked
  const { type } = (answer.body['error'] ?? {}) as { type?: string }
  if (statuses.includes(answer.status) || (type !== undefined && type === unlessType)) return answer
  throw new Error(`OpenSearch answers ${answer.status}${type === undefined ? '' : `: ${type}`}`)
}

const sourceOf = ({ pageId, domain, title, text, licence, ...facts }: IndexedDoc) => ({
  ...facts,
  page_id: pageId,
  domain,
  names: namesOf(domain),
  title: tokenize(title).join(' '),
  text: tokenize(text).join(' '),
  licence: licence.toLowerCase(),
})

const namesOf = (domain: string) => {
  const labels = domain.split('.')
  return labels.map((_, at) => labels.slice(at).join('.'))
}

const anyOfFields = (query: string) => ({ query, fields: ['title^2.5', 'text'], type: 'best_fields' })

/** Counts of the terms are over all pages: what is filtered is filtered after them. */
function searchBody({ terms: asked }: Query, filters: Filters, scores: ReadonlyMap<string, number>, limit: number) {
  const names = [...asked.keys()]
  return {
    size: limit,
    track_total_hits: false,
    _source: ['page_id', 'domain'],
    query: {
      bool: { should: names.map((term, at) => ({ multi_match: { ...anyOfFields(term), _name: String(at) } })) },
    },
    aggs: {
      counts: {
        filters: {
          filters: Object.fromEntries(names.map((term, at) => [String(at), { multi_match: anyOfFields(term) }])),
        },
      },
    },
    post_filter: { bool: { filter: wanted(filters, scores), must_not: unwanted(filters) } },
    sort: [{ _score: 'desc' }, { page_id: 'asc' }],
  }
}

function wanted(
  { domains, language, licences, types, sinceDay, untilDay, minScore }: Filters,
  scores: ReadonlyMap<string, number>,
) {
  const scored =
    minScore === undefined ? undefined : [...scores].flatMap(([domain, score]) => (score >= minScore ? [domain] : []))
  return [
    ...(domains === undefined ? [] : [{ terms: { names: domains } }]),
    ...(language === undefined ? [] : [{ term: { language } }]),
    ...(licences === undefined ? [] : [{ terms: { licence: licences } }]),
    ...(types === undefined ? [] : [{ terms: { type: types } }]),
    ...(sinceDay === undefined ? [] : [{ range: { day: { gte: sinceDay } } }]),
    ...(untilDay === undefined ? [] : [{ range: { day: { lte: untilDay } } }]),
    ...(scored === undefined || scored.length > domainsMax ? [] : [{ terms: { domain: scored } }]),
  ]
}

const unwanted = ({ notUnder }: Filters) => (notUnder === undefined ? [] : [{ terms: { names: notUnder } }])

type Hit = { _score: number; matched_queries?: string[]; _source: { page_id: number; domain: string } }

function foundOf(
  body: Record<string, unknown>,
  query: Query,
  docs: number,
  { filters, scores }: { filters: Filters; scores: ReadonlyMap<string, number> },
): Found {
  const names = [...query.terms.keys()]
  const { buckets } = (body['aggregations'] as { counts: { buckets: Record<string, { doc_count: number }> } }).counts
  const counts = new Map(names.map((term, at) => [term, buckets[String(at)]?.doc_count ?? 0]))
  const shares = termShares(query.terms, counts, docs)
  const { hits } = body['hits'] as { hits: Hit[] }
  const kept = hits.filter(({ _source }) => (scores.get(_source.domain) ?? 0) >= (filters.minScore ?? 0))
  const best = kept[0]?._score ?? 1
  const candidates = kept.map(({ _score, matched_queries = [], _source }): Candidate => {
    const covered = matched_queries.reduce((sum, at) => sum + (shares.get(names[Number(at)] as string) ?? 0), 0)
    return {
      pageId: _source.page_id,
      domain: _source.domain,
      relevance: (covered * _score) / best,
      covered,
      parts: { words: _score / best },
    }
  })
  return { candidates, unknown: unknownWords(query.words, counts), suggestions: {} }
}
