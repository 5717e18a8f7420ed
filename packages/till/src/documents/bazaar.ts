import type { Json } from '@assay/protocol/canonical-json'
import type { RouteDeclaration } from '../selling/route.ts'
import { fieldsOf, type JsonSchema, jsonSchemaOf } from './json-schema.ts'

type Block = { info: JsonSchema; schema: JsonSchema; routeTemplate?: string }

/** PAYMENT-REQUIRED must stay under 3 kB in base64 with offers for two networks beside this block. */
const blockBytesMax = 400

/** The discovery block of a route's 402: how to call it and what comes back, as much of it as fits. */
export function bazaarExtension(route: RouteDeclaration): Json {
  const output = route.example?.output
  const attempts: Detail[] = [
    { example: output, schemas: 'full' },
    { example: output, schemas: 'types' },
    { example: undefined, schemas: 'types' },
    { example: undefined, schemas: 'bare' },
    { example: undefined, schemas: 'bare', withoutBody: true },
  ]
  const blocks = attempts.map((detail) => buildBlock(route, detail))
  return (blocks.find((block) => JSON.stringify(block).length <= blockBytesMax) ?? blocks.at(-1)) as Json
}

type Detail = { example: unknown; schemas: 'full' | 'types' | 'bare'; withoutBody?: boolean }

function buildBlock(route: RouteDeclaration, detail: Detail): Block {
  const { input, properties, required } = inputOf(route, detail)
  const output = { type: 'json', ...(detail.example === undefined ? {} : { example: detail.example as Json }) }
  return {
    info: { input, output },
    schema: {
      type: 'object',
      properties: { input: { type: 'object', properties, required }, output: outputSchema },
      required: ['input'],
    },
    ...(route.path.includes(':') ? { routeTemplate: route.path } : {}),
  }
}

/** Indexers look for the place of an example; its own schema is in the OpenAPI document, for which there is room. */
const outputSchema: JsonSchema = { type: 'object', properties: { example: { type: 'object' } } }

function inputOf(route: RouteDeclaration, detail: Detail) {
  const { method, example = {} } = route
  const input: JsonSchema = { type: 'http', method }
  const properties: JsonSchema = { type: { const: 'http' }, method: { const: method } }
  const required: string[] = ['type', 'method']
  const add = (name: string, value: Json, schema: JsonSchema) => {
    input[name] = value
    properties[name] = schema
  }
  if (example.params) add('pathParams', example.params, objectSchema(route.params, detail))
  if (method === 'GET' || method === 'DELETE') {
    if (route.query) add('queryParams', example.query ?? {}, objectSchema(route.query, detail))
    else properties.queryParams = { type: 'object' }
    return { input, properties, required }
  }
  add('bodyType', 'json', { const: 'json' })
  add('body', (detail.withoutBody ? {} : (example.body ?? {})) as Json, objectSchema(route.body, detail))
  required.push('bodyType', 'body')
  return { input, properties, required }
}

function objectSchema(schema: RouteDeclaration['body'], detail: Detail): JsonSchema {
  if (!schema || detail.schemas === 'bare') return { type: 'object' }
  if (detail.schemas === 'full') {
    const { additionalProperties: _closed, ...rest } = jsonSchemaOf(schema, 'input')
    return rest
  }
  const fields = fieldsOf(schema)
  const required = fields.filter((field) => field.required).map((field) => field.name)
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(({ name, schema: field }) => [name, typeOnly(field)])),
    ...(required.length > 0 ? { required } : {}),
  }
}

function typeOnly(field: JsonSchema): JsonSchema {
  return typeof field.type === 'string' ? { type: field.type } : { description: 'any JSON value' }
}
