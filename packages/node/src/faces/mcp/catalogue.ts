import type { Json } from '@assay/protocol/canonical-json'
import { areaNameOf, isMainOperation, type JsonSchema, jsonSchemaOf } from '@assay/till/documents'
import { Problem } from '@assay/till/kernel/problem'
import { describeTools, type Tool } from '@assay/till/tools'
import type { RouteDeclaration } from '../../http/index.ts'
import type { NodeSite } from '../../http/node-site.ts'

/** Clients of 2025 check what an error says against the output schema too; later ones check answers alone. */
export type Era = 'legacy' | 'modern'

/** A tool as it is listed, and the routes among which its arguments choose. */
export type OfferedTool = {
  name: string
  listed: Record<Era, Record<string, unknown>>
  choose(given: Readonly<Record<string, unknown>>): { tool: Tool; given: Readonly<Record<string, unknown>> }
}

/** A model gains nothing from calling the rest, and a long list costs it attention. */
const isTool = (route: RouteDeclaration) => isMainOperation(route) && (route.mcp === undefined || route.mcp === 'both')

/** One tool for each thing that is sold, and the free routes that help to choose; in the order of areas and names. */
export function offeredTools(site: NodeSite, routes: readonly RouteDeclaration[]): OfferedTool[] {
  const shown = routes.filter(isTool)
  // The same thing by another method has the same path.
  const pathOf = (id: string | undefined) => shown.find((route) => route.id === id)?.path
  const groups = new Map<string, RouteDeclaration[]>()
  for (const route of shown) {
    const thing = pathOf(route.twinOf) ?? route.path
    groups.set(thing, [...(groups.get(thing) ?? []), route])
  }
  return [...groups.values()]
    .flatMap((group) => offeredTool(site, group) ?? [])
    .sort((a, b) => order(a).localeCompare(order(b)))
}

const order = ({ listed, name }: OfferedTool) =>
  `${(listed.modern['_meta'] as { 'assay/group': string })['assay/group']} ${name}`

/** The name that all routes of a thing share. */
const nameOf = (group: readonly Tool[]): string => {
  const [first, ...rest] = group.map(({ route }) => route.id.split('.'))
  const shared = (first ?? []).filter((part, at) => rest.every((other) => other[at] === part))
  return shared.join('_')
}

function offeredTool(site: NodeSite, group: readonly RouteDeclaration[]): OfferedTool | undefined {
  const described = describeTools(group)
  const [first] = described
  if (!first) return undefined
  const name = nameOf(described)
  const byNetwork = new Map(
    described.flatMap((tool) =>
      tool.route.access.kind === 'paid' ? tool.route.access.networks.map((network) => [network, tool] as const) : [],
    ),
  )
  // Methods of one path take the same networks: then the first method stands for all.
  const isChoice = described.length > 1 && new Set(byNetwork.values()).size === described.length
  const { route: _route, places: _places, inputSchema, ...shown } = first
  const listed = (era: Era) => ({
    ...shown,
    name,
    inputSchema: isChoice ? withNetwork(inputSchema, [...byNetwork.keys()]) : inputSchema,
    ...outputSchemaOf(group[0] as RouteDeclaration, era),
    _meta: { 'assay/group': areaNameOf(site, first.route) ?? 'core' },
  })
  return {
    name,
    listed: { legacy: listed('legacy'), modern: listed('modern') },
    choose(given) {
      if (!isChoice) return { tool: first, given }
      const { network = byNetwork.keys().next().value, ...rest } = given
      const tool = byNetwork.get(network as string)
      if (tool) return { tool, given: rest }
      throw new Problem('input_invalid', { detail: `network must be one of ${[...byNetwork.keys()].join(', ')}.` })
    },
  }
}

function withNetwork(schema: Tool['inputSchema'], networks: readonly string[]): Tool['inputSchema'] {
  const [first = ''] = networks
  const network = { type: 'string', enum: networks, default: first, description: 'The chain to pay on.' }
  return { ...schema, properties: { ...(schema['properties'] as JsonSchema), network } }
}

const paymentRequired = {
  type: 'object',
  description: 'The price of an unpaid call.',
  properties: { x402Version: { type: 'number' }, accepts: { type: 'array' } },
  required: ['x402Version', 'accepts'],
}
const problem = {
  type: 'object',
  description: 'Why a call failed.',
  properties: { code: { type: 'string' } },
  required: ['code'],
}

function outputSchemaOf(route: RouteDeclaration, era: Era): { outputSchema?: JsonSchema } {
  const answer = openEnded(jsonSchemaOf(route.output, 'output')) as JsonSchema
  // A definition is found from the root only, so it cannot be one of several.
  if (answer['type'] !== 'object' || answer['$defs'] !== undefined) return {}
  return { outputSchema: era === 'modern' ? answer : { type: 'object', anyOf: [answer, paymentRequired, problem] } }
}

/** Answers gain members over time, and nobody who checks them against an older list should lose what was paid for. */
function openEnded(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((item) => openEnded(item as Json) as Json)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value as JsonSchema)
      .filter(([name, member]) => !(name === 'additionalProperties' && member === false))
      .map(([name, member]) => [name, openEnded(member)]),
  )
}
