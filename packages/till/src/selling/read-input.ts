import { parseStrictJson } from '@assay/protocol/strict-json'
import type { Attribution } from '../contract/paid-call.ts'
import { Problem } from '../kernel/problem.ts'
import { issueWords } from './issue-words.ts'
import { negotiate } from './negotiate.ts'
import { type FieldProblem, type ReadQuery, readQuery } from './query.ts'
import type { RouteDeclaration, RouteInput } from './route.ts'
import { checkSchema, type Schema } from './schema.ts'

export type RawInput = {
  params: Record<string, string>
  query: string
  headers: ReadonlyMap<string, string>
  body: Uint8Array
}

export type ReadInput = {
  input: RouteInput
  /** What is wrong with it, all problems at once. The input must not be used when this is set. */
  problem: Problem | undefined
  /** Nothing but the path was sent: its 402 must not complain about input that nobody tried to give. */
  bare: boolean
  representation: string
  attribution: Attribution
  resourceQuery: string
}

/** How an embedder reads the referrer and the affiliate of a buyer. */
export type AttributionReader = {
  /** Query fields that are no part of the resource. */
  fields: ReadonlySet<string>
  read(given: ReadQuery['aside'], headers: ReadonlyMap<string, string>, problems: FieldProblem[]): Attribution
}

/** What reading needs of a route. */
export type ReadRoute = { declaration: RouteDeclaration; representations: readonly string[] }

/** From the parts of a request to what a handler sees. Never throws for what the caller wrote. */
export async function readInput(route: ReadRoute, raw: RawInput, brought?: AttributionReader): Promise<ReadInput> {
  const { declaration } = route
  const problems: FieldProblem[] = []
  const query = readQuery(raw.query, brought?.fields)
  problems.push(...query.problems)
  const attribution = brought?.read(query.aside, raw.headers, problems) ?? {}
  const params = await check(declaration.params, 'params', raw.params, problems)
  const bare = problems.length === 0 && raw.body.byteLength === 0 && query.resourceQuery === ''
  const checkedQuery = await check(declaration.query, 'query', query.fields, problems)
  const { body, typeProblem } = await readBodyInput(declaration, raw, problems)
  const representation = negotiate(raw.headers.get('accept'), route.representations)
  return {
    input: { params, query: checkedQuery, body },
    problem: typeProblem ?? problemOf(problems) ?? representationProblem(representation, route.representations),
    bare: bare && representation !== undefined,
    representation: representation ?? route.representations[0] ?? 'application/json',
    attribution,
    resourceQuery: query.resourceQuery,
  }
}

async function readBodyInput(
  { body: schema, bodyFormat }: RouteDeclaration,
  raw: RawInput,
  problems: FieldProblem[],
): Promise<{ body: unknown; typeProblem?: Problem }> {
  if (!schema) {
    if (raw.body.byteLength > 0) problems.push({ field: 'body', problem: 'is not taken by this route' })
    return { body: undefined }
  }
  if (raw.body.byteLength === 0) return { body: await check(schema, 'body', undefined, problems) }
  if (bodyFormat === 'text') return { body: await check(schema, 'body', decodeText(raw.body), problems) }
  const mediaType = (raw.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  if (mediaType !== 'application/json') return { body: undefined, typeProblem: new Problem('unsupported_media_type') }
  const json = parseStrictJson(raw.body)
  if (json.status === 'ok') return { body: await check(schema, 'body', json.value, problems) }
  problems.push({ field: 'body', problem: json.problem })
  return { body: undefined }
}

/** Undefined for anything that is not UTF-8. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

async function check(schema: Schema | undefined, part: string, value: unknown, problems: FieldProblem[]) {
  if (!schema) {
    if (value && typeof value === 'object')
      for (const name of Object.keys(value))
        problems.push({ field: `${part}.${name}`, problem: 'is not a known field' })
    return {}
  }
  const result = checkSchema(schema, value)
  const checked = result instanceof Promise ? await result : result
  if (checked === undefined) {
    problems.push({ field: part, problem: 'cannot be read' })
    return undefined
  }
  if ('value' in checked) return checked.value
  for (const issue of checked.issues) {
    const field = [part, ...(issue.path ?? []).map(nameOf)].join('.')
    const unknown = unknownKeys(issue)
    if (unknown === undefined) problems.push({ field, problem: issueWords(issue, value) })
    else for (const key of unknown) problems.push({ field: `${field}.${key}`, problem: 'is not a known field' })
  }
  return undefined
}

const nameOf = (segment: PropertyKey | { key: PropertyKey }) =>
  String(typeof segment === 'object' ? segment.key : segment)

/** zod names all unknown keys of an object in one issue. */
function unknownKeys(issue: object): readonly string[] | undefined {
  const { code, keys } = issue as { code?: unknown; keys?: readonly string[] }
  return code === 'unrecognized_keys' ? keys : undefined
}

const problemsMax = 32

function problemOf(problems: readonly FieldProblem[]): Problem | undefined {
  if (problems.length === 0) return undefined
  const shown = problems.slice(0, problemsMax).map(({ field, problem }) => ({ field: field.slice(0, 128), problem }))
  return new Problem('input_invalid', {
    detail: shown
      .map(({ field, problem }) => `${field} ${problem}`)
      .join('; ')
      .slice(0, 500),
    extra: { problems: shown },
  })
}

function representationProblem(representation: string | undefined, available: readonly string[]): Problem | undefined {
  return representation === undefined ? new Problem('not_acceptable', { extra: { available } }) : undefined
}
