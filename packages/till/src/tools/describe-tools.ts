import { unpaidCallText } from '@assay/protocol/tool-texts'
import { fieldsOf, type JsonSchema, jsonSchemaOf, priceText } from '../documents/index.ts'
import type { RouteDeclaration } from '../selling/index.ts'

/** Where an argument of a tool goes in the request. */
export type ArgumentPlace = { name: string; field: string; place: 'params' | 'query' | 'body' | 'whole_body' }

export type Tool = {
  name: string
  title: string
  description: string
  inputSchema: JsonSchema & { type: 'object' }
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean }
  route: RouteDeclaration
  places: readonly ArgumentPlace[]
}

/** One tool per route that can be called without signing the request itself, which no MCP client does. */
export function describeTools(routes: readonly RouteDeclaration[]): Tool[] {
  return routes.filter(isTool).map(describeTool)
}

function isTool(route: RouteDeclaration): boolean {
  if (route.hidden) return false
  if (route.access.kind === 'free' && route.access.security !== undefined) return false
  return (route.representations ?? ['application/json']).some(isJson)
}

export const isJson = (media: string) => /^application\/(?:[\w.-]+\+)?json/.test(media)

function describeTool(route: RouteDeclaration): Tool {
  const { properties, required, places } = argumentsOf(route)
  const paid = route.access.kind === 'paid'
  return {
    name: toolName(route),
    title: route.summary,
    description: [
      `${route.summary}.`,
      route.description ?? '',
      paid ? `Costs ${priceText(route)} in USDC, paid per call with x402. ${unpaidCallText}` : 'Free.',
    ]
      .filter((text) => text !== '')
      .join(' '),
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    annotations: {
      readOnlyHint: route.method === 'GET' && !paid,
      destructiveHint: false,
      idempotentHint: route.method === 'GET' && !paid,
      openWorldHint: false,
    },
    route,
    places,
  }
}

/** `tokens.check` as `tokens_check`: the characters every client takes. */
export function toolName(route: RouteDeclaration): string {
  return route.id.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
}

/** Path, query and body fields beside each other; a name that two of them use is distinguished by its place. */
function argumentsOf(route: RouteDeclaration): {
  properties: Record<string, JsonSchema>
  required: string[]
  places: ArgumentPlace[]
} {
  const properties: Record<string, JsonSchema> = {}
  const required: string[] = []
  const places: ArgumentPlace[] = []
  const add = (name: string, place: ArgumentPlace['place'], schema: JsonSchema, needed: boolean) => {
    const argument = name in properties ? `${place}_${name}` : name
    properties[argument] = schema
    if (needed) required.push(argument)
    places.push({ name: argument, field: name, place })
  }
  for (const { name, schema } of fieldsOf(route.params)) add(name, 'params', schema, true)
  for (const { name, schema, required: needed } of fieldsOf(route.query)) add(name, 'query', schema, needed)
  if (route.body) {
    const fields = fieldsOf(route.body)
    if (fields.length === 0) add('body', 'whole_body', jsonSchemaOf(route.body, 'input'), true)
    for (const { name, schema, required: needed } of fields) add(name, 'body', schema, needed)
  }
  return { properties, required, places }
}
