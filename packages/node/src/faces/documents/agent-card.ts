import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { areaNameOf, paidRoutes, priceText, templateOf } from '@assay/till/documents'
import type { RouteDeclaration } from '../../http/index.ts'
import { type NodeSite, serviceVersion } from '../../http/node-site.ts'

/** Names the way in: plain HTTP with x402, as OpenAPI describes it. A2A's own bindings have tasks, which we do not. */
const bindings = { http: 'urn:x402:http:2', mcp: 'urn:mcp:streamable-http' }
const a2aVersion = '1.0'

/** The node as an A2A agent card: one skill for each thing it sells. */
export function agentCard(site: NodeSite, routes: readonly RouteDeclaration[], sign: (payload: string) => string) {
  const shown = routes.filter((route) => !route.hidden)
  const card = {
    name: site.serviceName,
    description: 'Verified, signed answers, paid per call in USDC with x402.',
    version: serviceVersion,
    supportedInterfaces: [
      { url: new URL(site.baseUrl).origin, protocolBinding: bindings.http, protocolVersion: a2aVersion },
      ...(shown.some((route) => route.path === '/mcp')
        ? [{ url: `${new URL(site.baseUrl).origin}/mcp`, protocolBinding: bindings.mcp, protocolVersion: a2aVersion }]
        : []),
    ],
    provider: { url: new URL(site.baseUrl).origin, organization: site.serviceName },
    documentationUrl: `${new URL(site.baseUrl).origin}/llms.txt`,
    iconUrl: `${new URL(site.baseUrl).origin}/favicon.svg`,
    capabilities: {
      streaming: false,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [
        {
          uri: 'https://www.x402.org',
          description: 'Calls are paid per request with x402 version 2 over HTTP.',
          required: false,
        },
      ],
    },
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: paidRoutes(routes).map((route) => skillOf(site, route)),
  }
  return { ...card, signatures: [signatureOf(sign(canonicalJson(card as unknown as Json)))] }
}

function skillOf(site: NodeSite, route: RouteDeclaration) {
  return {
    id: route.id,
    name: route.summary,
    description: `${route.method} ${templateOf(route)}, ${priceText(route)}. ${route.description ?? route.summary}`,
    tags: [areaNameOf(site, route), 'x402'],
    inputModes: ['application/json'],
    outputModes: [...(route.representations ?? ['application/json'])],
  }
}

/** A card carries detached signatures: anyone who has the card has the payload. */
function signatureOf(jws: string): { protected: string; signature: string } {
  const [header = '', , signature = ''] = jws.split('.')
  return { protected: header, signature }
}
