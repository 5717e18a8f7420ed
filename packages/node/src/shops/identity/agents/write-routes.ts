import { z } from 'zod'
import { type CallContext, defineRoute, jsonAnswer, type RouteDeclaration } from '../../../http/index.ts'
import type { IdentityDeps } from '../deps.ts'
import { exampleAt, exampleCapabilities, exampleDid } from '../examples.ts'
import { declarationShape, noDeclaration, oneOfEach } from './declaration.ts'
import { type Declared, deactivateAgent, declareCapabilities } from './declare-capabilities.ts'
import { agentInPath } from './describe-agent.ts'
import { agentSchema, didParams, exampleAgent, paramsExample } from './routes.ts'

export type WriteDeps = IdentityDeps & {
  /** Drops what this process keeps about a wallet. */
  evict(wallet: string): void
}

const body = oneOfEach(
  z.strictObject({
    ...declarationShape,
    expected_version: z
      .int()
      .min(0)
      .max(1_000_000_000)
      .optional()
      .describe('The version this one replaces; another one there is a conflict.'),
  }),
)

/** What only the wallet itself may change, each by a request that it signed (ERC-8128). */
export function agentWriteRoutes(deps: WriteDeps): RouteDeclaration[] {
  return [declareRoute(deps), revokeRoute(deps), deactivateRoute(deps)]
}

async function declare(deps: WriteDeps, call: CallContext, declared: Declared) {
  const agent = agentInPath(deps, call.received.path)
  const described = await declareCapabilities(deps, agent, declared, call)
  deps.evict(agent.named.address)
  return jsonAnswer(described)
}

function declareRoute(deps: WriteDeps): RouteDeclaration {
  return defineRoute({
    id: 'agents.capabilities.declare',
    area: 'C',
    method: 'PUT',
    path: '/v1/agents/:did/capabilities',
    summary: 'Declare what an agent can do; signed by its wallet',
    description:
      'The request is signed by the wallet of the DID (ERC-8128). Each call makes a new version; an earlier one is kept for 90 days after it was replaced. An empty list revokes everything.',
    params: didParams,
    body,
    output: agentSchema,
    example: {
      params: paramsExample(deps),
      body: { name: 'Search agent', capabilities: exampleCapabilities },
      output: exampleAgent(deps),
    },
    next: '/v1/did/resolve/:did',
    cost: 5,
    bodyBytesMax: 48 * 1024,
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: (input, call) => declare(deps, call, input.body),
    },
  })
}

function revokeRoute(deps: WriteDeps): RouteDeclaration {
  return defineRoute({
    id: 'agents.capabilities.revoke',
    area: 'C',
    method: 'DELETE',
    path: '/v1/agents/:did/capabilities',
    summary: 'Revoke everything an agent declared',
    params: didParams,
    output: agentSchema,
    example: {
      params: paramsExample(deps),
      output: { ...exampleAgent(deps), name: null, version: 2, capabilities: [] },
    },
    next: '/v1/agents/:did',
    cost: 5,
    access: {
      kind: 'free',
      security: 'erc8128',
      // An empty version on top: nothing is offered any more.
      handle: (_input, call) => declare(deps, call, noDeclaration),
    },
  })
}

function deactivateRoute(deps: WriteDeps): RouteDeclaration {
  return defineRoute({
    id: 'agents.deactivate',
    area: 'C',
    method: 'DELETE',
    path: '/v1/agents/:did',
    summary: 'Deactivate a DID at this node, for good; signed by its wallet',
    params: didParams,
    output: z.strictObject({ did: z.string(), deactivated: z.literal(true), deactivated_at: z.string() }),
    example: {
      params: paramsExample(deps),
      output: { did: exampleDid(deps.didMethod), deactivated: true, deactivated_at: exampleAt },
    },
    next: '/v1/agents',
    cost: 5,
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (_input, call) => {
        const agent = agentInPath(deps, call.received.path)
        await deactivateAgent(deps, agent, call)
        deps.evict(agent.named.address)
        return jsonAnswer({
          did: agent.did,
          deactivated: true,
          deactivated_at: new Date(deps.clock.nowMs()).toISOString(),
        })
      },
    },
  })
}
