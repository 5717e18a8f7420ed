import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ContractServer = { url: string; refuseNext(): void; close(): Promise<void> }

type Doc = Record<string, unknown>
type Clause = Record<string, Record<string, unknown>>
type Index = { docs: Map<string, Doc>; properties: Set<string> | undefined }
type Reply = { status: number; body: object }

const fault = (status: number, type: string): Reply => ({ status, body: { error: { type }, status } })

/** The part of OpenSearch's API that is used, strict about everything else: what it does not know is an error, as there. */
export async function openContractServer(): Promise<ContractServer> {
  const indexes = new Map<string, Index>()
  let refusing = false
  const server = createServer(async (request, response) => {
    const reply = await answer(request).catch((error: Error) => fault(400, error.message))
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body))
  })
  const answer = async (request: IncomingMessage): Promise<Reply> => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const text = Buffer.concat(pieces).toString('utf8')
    if (request.headers.authorization !== 'Basic dGVzdDp0ZXN0') return fault(401, 'security_exception')
    const { pathname } = new URL(request.url ?? '/', 'http://x')
    const [name = '', action, id] = pathname.split('/').slice(1)
    if (name === '_bulk' && request.method === 'POST') {
      if (request.headers['content-type'] !== 'application/x-ndjson' || !text.endsWith('\n'))
        throw new Error('parse_exception')
      const failed = refusing
      refusing = false
      if (!failed)
        bulk(
          indexes,
          text
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line) as Doc),
        )
      return { status: 200, body: { errors: failed, items: [] } }
    }
    if (action === undefined && request.method === 'PUT') return createIndex(indexes, name, JSON.parse(text))
    const index = indexes.get(name)
    if (!index) return fault(404, 'index_not_found_exception')
    if (action === '_count') return { status: 200, body: { count: index.docs.size } }
    if (action === '_doc' && id !== undefined) {
      if (request.method === 'PUT') index.docs.set(id, JSON.parse(text))
      const found = index.docs.get(id)
      return { status: found ? 200 : 404, body: found ? { found: true, _source: found } : { found: false } }
    }
    if (action === '_search' && request.method === 'POST') return { status: 200, body: search(index, JSON.parse(text)) }
    return fault(405, 'illegal_argument_exception')
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refuseNext: () => {
      refusing = true
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function createIndex(indexes: Map<string, Index>, name: string, body: { mappings?: { properties: object } }): Reply {
  if (indexes.has(name)) return fault(400, 'resource_already_exists_exception')
  indexes.set(name, {
    docs: new Map(),
    properties: body.mappings && new Set(Object.keys(body.mappings.properties)),
  })
  return { status: 200, body: { acknowledged: true } }
}

function bulk(indexes: Map<string, Index>, lines: readonly Doc[]): void {
  for (let at = 0; at + 1 < lines.length; at += 2) {
    const { _index, _id } = (lines[at] as { index: { _index: string; _id: string } }).index
    const [index, doc] = [indexes.get(_index), lines[at + 1] as Doc]
    if (!index) throw new Error('index_not_found_exception')
    for (const field of Object.keys(doc))
      if (!index.properties?.has(field)) throw new Error('strict_dynamic_mapping_exception')
    index.docs.set(_id, doc)
  }
}

const searchMembers = new Set(['size', 'track_total_hits', '_source', 'query', 'aggs', 'post_filter', 'sort'])

function search(index: Index, body: Record<string, unknown>) {
  for (const member of Object.keys(body)) if (!searchMembers.has(member)) throw new Error('parsing_exception')
  const { should } = (body['query'] as { bool: { should: Clause[] } }).bool
  const scored = [...index.docs.values()].flatMap((doc) => {
    const matched = should.filter((clause) => scoreOf(clause, doc) > 0)
    const score = matched.reduce((sum, clause) => sum + scoreOf(clause, doc), 0)
    return matched.length === 0
      ? []
      : [{ doc, score, names: matched.map((clause) => String(clause['multi_match']?.['_name'])) }]
  })
  const { filters } = (body['aggs'] as { counts: { filters: { filters: Record<string, Clause> } } }).counts.filters
  const buckets = Object.fromEntries(
    Object.entries(filters).map(([name, clause]) => [
      name,
      { doc_count: scored.filter(({ doc }) => scoreOf(clause, doc) > 0).length },
    ]),
  )
  const { filter, must_not } = (body['post_filter'] as { bool: { filter: Clause[]; must_not: Clause[] } }).bool
  const hits = scored
    .filter(({ doc }) => filter.every((clause) => holds(clause, doc)) && !must_not.some((clause) => holds(clause, doc)))
    .sort((a, b) => b.score - a.score || Number(a.doc['page_id']) - Number(b.doc['page_id']))
    .slice(0, Number(body['size']))
    .map(({ doc, score, names }) => ({
      _score: score,
      matched_queries: names,
      _source: Object.fromEntries((body['_source'] as string[]).map((field) => [field, doc[field]])),
    }))
  return { hits: { hits }, aggregations: { counts: { buckets } } }
}

/** `multi_match` over fields that are split at white space. */
function scoreOf(clause: Clause, doc: Doc): number {
  const { query, fields } = clause['multi_match'] as { query: string; fields: string[] }
  return Math.max(
    ...fields.map((field) => {
      const [name = '', boost = '1'] = field.split('^')
      const words = String(doc[name]).split(/\s+/)
      const count = words.filter((word) => word === query).length
      return (Number(boost) * count) / (count + 1)
    }),
  )
}

function holds(clause: Clause, doc: Doc): boolean {
  const [[kind, body] = ['', {}]] = Object.entries(clause)
  const [[field, wanted] = ['', undefined]] = Object.entries(body)
  const values = [doc[field]].flat()
  if (kind === 'term') return values.includes(wanted)
  if (kind === 'terms') return values.some((value) => (wanted as unknown[]).includes(value))
  if (kind !== 'range') throw new Error('parsing_exception')
  const { gte = -Infinity, lte = Infinity } = wanted as { gte?: number; lte?: number }
  return Number(values[0]) >= gte && Number(values[0]) <= lte
}
