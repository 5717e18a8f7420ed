import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../../http/index.ts'
import type { IdentityDeps } from '../deps.ts'
import { exampleAt, exampleCapabilities, exampleDid, exampleRating, exampleWallet } from '../examples.ts'
import { cardOfAgent } from './agent-card.ts'
import { capability, capabilityId, declarationShape, serviceTypes } from './declaration.ts'
import { agentInPath, describeAgent, requireActive, summaryOf } from './describe-agent.ts'
import { searchAgents } from './search-agents.ts'
import { readHistory } from './store.ts'

const open = z.looseObject({})
const facts = z.record(z.string(), z.union([z.number(), z.string()]))
const rating = z.looseObject({
  subject: z.string(),
  method: z.string(),
  issuer: z.string(),
  score: z.number(),
  interval: z.strictObject({ low: z.number(), high: z.number(), level: z.number() }),
  components: z.array(z.looseObject({ id: z.string(), value: z.number(), evidence: facts })),
  evidence: facts,
  computed_at: z.string(),
  valid_until: z.string(),
  jws: z.string(),
})
const service = z.strictObject({ type: z.enum(serviceTypes), url: z.string() })
export const agentSchema = z.strictObject({
  did: z.string(),
  wallet: z.string(),
  name: z.string().nullable(),
  description: z.string().nullable(),
  version: z.number(),
  capabilities: z.array(capability),
  services: z.array(service),
  erc8004: z.strictObject({ network: z.string(), agent_id: z.string() }).nullable(),
  credit_rating: rating.nullable().describe('Signed; null where there is no evidence.'),
  payment_authorizations: z.array(z.unknown()),
  declared_at: z.string().nullable(),
})

const summary = z.strictObject({
  did: z.string(),
  name: z.string().nullable(),
  version: z.number(),
  credit_score: z.number().nullable().describe('Lower bound of the rating when it was last computed.'),
  capabilities: z.array(capability),
  services: z.array(service),
  updated_at: z.string(),
})

export const didParams = z.strictObject({ did: z.string() })
export const paramsExample = (deps: Pick<IdentityDeps, 'didMethod'>) => ({ did: exampleDid(deps.didMethod) })
const limit = z
  .string()
  .regex(/^(?:[1-9]\d?|100)$/, 'must be 1 to 100')
  .optional()

export const exampleAgent = (deps: Pick<IdentityDeps, 'didMethod'>) => ({
  did: exampleDid(deps.didMethod),
  wallet: exampleWallet,
  name: 'Search agent',
  description: null,
  version: 1,
  capabilities: exampleCapabilities,
  services: [],
  erc8004: null,
  credit_rating: exampleRating,
  payment_authorizations: [],
  declared_at: exampleAt,
})

export function agentRoutes(deps: IdentityDeps): RouteDeclaration[] {
  return [searchRoute(deps), showRoute(deps), historyRoute(deps), cardRoute(deps)]
}

function searchRoute(deps: IdentityDeps): RouteDeclaration {
  const { name, version, capabilities, services } = exampleAgent(deps)
  return defineRoute({
    id: 'agents.search',
    area: 'C',
    method: 'GET',
    path: '/v1/agents',
    summary: 'Agents by what they can do, best rated first',
    query: z.strictObject({
      capability: capabilityId.optional().describe('Exact, or the words before a dot: citation finds citation.search.'),
      service: z.enum(serviceTypes).optional(),
      score_min: z
        .string()
        .regex(/^(?:\d{1,2}|100)$/, 'must be 0 to 100')
        .optional(),
      limit,
      cursor: z.string().max(200).optional(),
    }),
    output: z.strictObject({ data: z.array(summary), next_cursor: z.string().nullable() }),
    example: {
      query: { capability: 'citation.search' },
      output: {
        data: [
          {
            did: exampleDid(deps.didMethod),
            name,
            version,
            credit_score: 34,
            capabilities,
            services,
            updated_at: exampleAt,
          },
        ],
        next_cursor: null,
      },
    },
    next: '/.well-known/agent-card.json',
    access: {
      kind: 'free',
      handle: async ({ query }) => {
        const found = await searchAgents(deps.database, {
          capability: query.capability,
          service: query.service,
          scoreMin: query.score_min === undefined ? undefined : Number(query.score_min),
          limit: Number(query.limit ?? 20),
          cursor: query.cursor,
        })
        if (found === undefined)
          throw new Problem('input_invalid', { detail: 'cursor is not valid. Start again without it.' })
        return jsonAnswer({
          data: found.agents.map((agent) => summaryOf(deps.didMethod, agent)),
          next_cursor: found.nextCursor,
        })
      },
    },
  })
}

function showRoute(deps: IdentityDeps): RouteDeclaration {
  return defineRoute({
    id: 'agents.show',
    area: 'C',
    method: 'GET',
    path: '/v1/agents/:did',
    summary: 'One agent: rating with its evidence, capabilities, services, payment authorizations',
    params: didParams,
    output: agentSchema,
    example: { params: paramsExample(deps), output: exampleAgent(deps) },
    next: '/v1/did/resolve/:did',
    access: {
      kind: 'free',
      handle: async (_input, call) => jsonAnswer(await describeAgent(deps, agentInPath(deps, call.received.path))),
    },
  })
}

function historyRoute(deps: IdentityDeps): RouteDeclaration {
  return defineRoute({
    id: 'agents.capabilities.history',
    area: 'C',
    method: 'GET',
    path: '/v1/agents/:did/capabilities',
    summary: 'Every declaration of an agent, newest first, with its signer',
    params: didParams,
    query: z.strictObject({
      limit,
      cursor: z
        .string()
        .regex(/^[1-9]\d{0,8}$/, 'is not valid')
        .optional(),
    }),
    output: z.strictObject({
      data: z.array(
        z.strictObject({
          version: z.number(),
          declaration: z.strictObject(declarationShape),
          signer: z.string(),
          declared_at: z.string(),
        }),
      ),
      next_cursor: z.string().nullable(),
    }),
    example: {
      params: paramsExample(deps),
      output: {
        data: [
          {
            version: 1,
            declaration: { capabilities: exampleCapabilities },
            signer: `eip155:8453:${exampleWallet.toLowerCase()}`,
            declared_at: exampleAt,
          },
        ],
        next_cursor: null,
      },
    },
    next: '/v1/agents/:did',
    access: {
      kind: 'free',
      handle: async ({ query }, call) => {
        const { named } = agentInPath(deps, call.received.path)
        const agent = await requireActive(deps, named)
        const max = Number(query.limit ?? 20)
        const before = query.cursor === undefined ? undefined : Number(query.cursor)
        const rows = agent
          ? await readHistory(deps.database, agent.subject, { beforeVersion: before, limit: max + 1 })
          : []
        const page = rows.slice(0, max)
        return jsonAnswer({
          data: page.map(({ version, document, signer, declared_at }) => ({
            version,
            declaration: document,
            signer,
            declared_at: declared_at.toISOString(),
          })),
          next_cursor: rows.length > max ? String(page.at(-1)?.version) : null,
        })
      },
    },
  })
}

function cardRoute(deps: IdentityDeps): RouteDeclaration {
  const card = { name: 'Search agent', version: '1', supportedInterfaces: [], skills: [] }
  return defineRoute({
    id: 'agents.card',
    area: 'C',
    method: 'GET',
    path: '/v1/agents/:did/agent-card.json',
    summary: 'What an agent declared here, as an A2A agent card',
    params: didParams,
    representations: ['application/json', 'application/a2a+json'],
    output: z.looseObject({ name: z.string(), version: z.string(), skills: z.array(open) }),
    example: { params: paramsExample(deps), output: card },
    next: '/v1/agents/:did',
    access: {
      kind: 'free',
      handle: async (_input, call) => {
        const { did, named } = agentInPath(deps, call.received.path)
        const agent = await requireActive(deps, named)
        const body = JSON.stringify(cardOfAgent({ did, agent, apiUrl: deps.apiUrl }))
        return { status: 200, contentType: call.representation, body }
      },
    },
  })
}
