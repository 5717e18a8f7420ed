// npm run operations: writes the typed operations of the SDK from the OpenAPI document of a running node.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(fileURLToPath(import.meta.url), '..', '..')
export const operationsFile = join(root, 'packages', 'sdk', 'src', 'operations.generated.ts')

const quoted = (text) => `'${String(text).replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
const literal = (value) => (typeof value === 'string' ? quoted(value) : JSON.stringify(value))
const key = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name))

/** The TypeScript type of a JSON Schema as our routes use it; what it cannot say is unknown, never a guess. */
export function typeOf(schema, defs = {}, seen = []) {
  if (schema === true || schema === undefined) return 'unknown'
  if (schema === false) return 'never'
  const known = { ...defs, ...schema.$defs }
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1)
    // A schema that contains itself has no end; the SDK's own types say more where it matters.
    return seen.includes(name) || known[name] === undefined ? 'unknown' : typeOf(known[name], known, [...seen, name])
  }
  const inner = (part) => typeOf(part, known, seen)
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return [...new Set(choices.map(inner))].join(' | ')
  if (schema.allOf) return schema.allOf.map((part) => `(${inner(part)})`).join(' & ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => inner({ ...schema, type })).join(' | ')
  if (schema.type === 'array') return arrayType(schema, inner)
  if (schema.type === 'object' || schema.properties) return objectType(schema, inner)
  const plain = { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' }
  return plain[schema.type] ?? 'unknown'
}

function arrayType(schema, inner) {
  if (schema.prefixItems) return `[${schema.prefixItems.map(inner).join(', ')}]`
  const item = inner(schema.items)
  return /[|&]/.test(item) ? `(${item})[]` : `${item}[]`
}

function objectType(schema, inner) {
  const required = new Set(schema.required ?? [])
  const members = Object.entries(schema.properties ?? {}).map(
    ([name, part]) => `${key(name)}${required.has(name) ? '' : '?'}: ${inner(part)}`,
  )
  if (members.length > 0) return `{ ${members.join('; ')} }`
  const rest = schema.additionalProperties
  if (rest === false) return 'Record<string, never>'
  return `Record<string, ${inner(rest === undefined ? true : rest)}>`
}

/** A query has only text; what must be digits may be given as a number. */
const isNumber = ({ pattern }) => pattern !== undefined && new RegExp(pattern).test('1')

function fieldsType(parameters, place) {
  const fields = parameters.filter((parameter) => parameter.in === place)
  if (fields.length === 0) return undefined
  const members = fields.map(
    ({ name, required, schema }) =>
      `${key(name)}${required ? '' : '?'}: ${typeOf(schema)}${isNumber(schema) ? ' | number' : ''}`,
  )
  return `{ ${members.join('; ')} }`
}

/** The member of one operation: input by its place, answer, and how it is reached. */
function operationLines(path, method, operation) {
  const parameters = operation.parameters.filter((parameter) => parameter.$ref === undefined)
  const params = fieldsType(parameters, 'path')
  const query = fieldsType(parameters, 'query')
  const bodySchema = operation.requestBody?.content?.['application/json']?.schema
  const body = bodySchema ? typeOf(bodySchema) : undefined
  const content = Object.entries(operation.responses['200'].content)
  const json = content.find(([media]) => /^application\/([\w.-]+\+)?json/.test(media))
  const optional = (text, place) => (parameters.some((one) => one.in === place && one.required) ? text : `${text}?`)
  const input = [
    ...(params ? [`params: ${params}`] : []),
    ...(query ? [`${optional('query', 'query')}: ${query}`] : []),
    ...(body ? [`body: ${body}`] : []),
  ]
  return {
    type: [
      `  /** ${operation.summary}${operation['x-payment-info'] ? ' (paid)' : ''}. */`,
      `  ${quoted(operation.operationId)}: {`,
      `    input: ${input.length === 0 ? 'Record<string, never>' : `{ ${input.join('; ')} }`}`,
      `    answer: ${json ? typeOf(json[1].schema) : 'string'}`,
      '  }',
    ],
    value: `  ${quoted(operation.operationId)}: { method: ${quoted(method.toUpperCase())}, path: ${quoted(path)}, paid: ${operation['x-payment-info'] !== undefined} },`,
  }
}

/** The whole file. Sorted by name, so that it changes only where the interface does. */
export function operationsSource(openapi) {
  const operations = Object.entries(openapi.paths)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })))
    .sort((a, b) => (a.operation.operationId < b.operation.operationId ? -1 : 1))
    .map(({ path, method, operation }) => operationLines(path, method, operation))
  return [
    '// Written by `npm run operations` from the OpenAPI document of a node; do not edit.',
    '',
    '/** Every operation of a node: what it takes and what it answers. */',
    'export type Operations = {',
    ...operations.flatMap(({ type }) => type),
    '}',
    '',
    '/** How each is reached. */',
    'export const operations = {',
    ...operations.map(({ value }) => value),
    '} as const satisfies Record<keyof Operations, { method: string; path: string; paid: boolean }>',
    '',
  ].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const url = process.argv[2] ?? 'http://127.0.0.1:4020/openapi/full.json'
  const openapi = url.startsWith('http') ? await (await fetch(url)).json() : JSON.parse(readFileSync(url, 'utf8'))
  writeFileSync(operationsFile, operationsSource(openapi))
  process.stdout.write(`${Object.keys(openapi.paths).length} paths written to ${operationsFile}\n`)
}
