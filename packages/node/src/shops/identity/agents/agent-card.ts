import { noDeclaration } from './declaration.ts'
import type { Agent } from './store.ts'

const bindings = { a2a: 'JSONRPC', mcp: 'urn:mcp:streamable-http', x402: 'urn:x402:http:2' } as const

/** What an agent declared here, as an A2A card: for agents that host none of their own. */
export function cardOfAgent(parts: { did: string; agent: Agent | undefined; apiUrl: string }) {
  const { did, agent, apiUrl } = parts
  const { name, description, capabilities, services = [] } = agent?.declaration ?? noDeclaration
  const interfaces = services.flatMap(({ type, url }) =>
    type === 'a2a' || type === 'mcp' || type === 'x402'
      ? [{ url, protocolBinding: bindings[type], protocolVersion: '1.0' }]
      : [],
  )
  return {
    name: name ?? did,
    description: description ?? 'An agent known by its wallet; what it offers is declared and signed by that wallet.',
    version: String(agent?.version ?? 0),
    supportedInterfaces: interfaces,
    documentationUrl: `${apiUrl}/v1/agents/${did}`,
    capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: capabilities.map((one) => ({
      id: one.id,
      name: one.name ?? one.id,
      description: one.description ?? one.name ?? one.id,
      tags: one.tags ?? [one.id.split('.')[0] ?? one.id],
    })),
  }
}
