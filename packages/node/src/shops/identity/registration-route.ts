import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration, serviceVersion } from '../../http/index.ts'
import type { IdentityDeps } from './deps.ts'
import type { IdentitySettings } from './settings.ts'

type Registration = { agentId: number | string; agentRegistry: string }

const outputSchema = z.looseObject({ type: z.string(), name: z.string(), registrations: z.array(z.unknown()) })
const fileType = 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1'

/** The ERC-8004 registration file of the node, which also proves to the registry that this domain is meant. */
export function registrationRoute(deps: IdentityDeps, settings: IdentitySettings): RouteDeclaration {
  return defineRoute({
    id: 'identity.registration',
    area: 'core',
    method: 'GET',
    path: '/.well-known/agent-registration.json',
    summary: 'The ERC-8004 registration file of this node',
    output: outputSchema,
    example: { output: { type: fileType, name: 'Assay', registrations: [] } },
    next: '/.well-known/agent-card.json',
    cacheSeconds: 5,
    access: {
      kind: 'free',
      handle: async () => jsonAnswer(registrationFile(deps, await confirmed(deps, settings))),
    },
  })
}

/** Only where the chain really has a registry at the configured address. */
async function confirmed({ registries }: IdentityDeps, settings: IdentitySettings): Promise<Registration[]> {
  const found = await Promise.all(
    settings.registrations.map(async ({ network, agentId }) => {
      const agentRegistry = await registries.registryOn(network)
      return agentRegistry === undefined ? [] : [{ agentId: asNumber(agentId), agentRegistry }]
    }),
  )
  return found.flat()
}

const asNumber = (id: string) => (Number.isSafeInteger(Number(id)) ? Number(id) : id)

function registrationFile({ baseUrl, issuer }: IdentityDeps, registrations: readonly Registration[]) {
  return {
    type: fileType,
    name: 'Assay',
    description: 'Verified, signed answers, paid per call in USDC with x402.',
    image: `${baseUrl}/favicon.svg`,
    services: [
      { name: 'web', endpoint: `${baseUrl}/` },
      { name: 'A2A', endpoint: `${baseUrl}/.well-known/agent-card.json`, version: '1.0' },
      { name: 'MCP', endpoint: `${baseUrl}/mcp`, version: '2026-07-28' },
      { name: 'DID', endpoint: issuer, version: 'v1' },
      { name: 'x402', endpoint: `${baseUrl}/.well-known/x402`, version: '2' },
      { name: 'OpenAPI', endpoint: `${baseUrl}/openapi.json`, version: serviceVersion },
    ],
    x402Support: true,
    active: true,
    registrations,
    supportedTrust: ['reputation', 'crypto-economic'],
  }
}
